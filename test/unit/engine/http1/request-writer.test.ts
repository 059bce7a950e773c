import { expect } from 'chai';
import { FieldList } from '../../../../src/engine/exchange/fields.js';
import { PlainRequestHead } from '../../../../src/engine/exchange/heads.js';
import { Piece } from '../../../../src/engine/exchange/piece.js';
import { TimerWheel } from '../../../../src/engine/exchange/timer-wheel.js';
import { Http1UpstreamWorker } from '../../../../src/engine/http1/http1-upstream-worker.js';
import { RequestWriter } from '../../../../src/engine/http1/request-writer.js';
import { BufferPool } from '../../../../src/engine/wire/buffer-pool.js';
import { FAILED, PENDING, WRITTEN } from '../../../../src/engine/wire/wire.js';
import { FakeConnection, roomy } from '../../../support/engine/fake-connection.js';

function setUp() {
  const worker = new Http1UpstreamWorker({
    wire: { name: 'net', listen: () => Promise.reject(new Error('unused')), connect: () => wire },
    wheel: new TimerWheel(),
    counters: [] as never, // counts of these connections are not asked for
    buffers: new BufferPool({ debug: true }),
  });
  const wire = new FakeConnection();
  const writer = new RequestWriter(worker);
  writer.attach(wire);
  return { worker, wire, writer };
}

function connected() {
  const set = setUp();
  set.writer.flush();
  return set;
}

function head(contentLength: number, flat: string[] = [], upgrade = ''): PlainRequestHead {
  const fields = new FieldList(flat);
  return new PlainRequestHead({
    method: 'POST',
    scheme: 'http',
    authority: 'a.test',
    path: '/x',
    fields,
    contentLength,
    upgrade,
  });
}

function part(text: string, last = false, room = 0): Piece {
  const { buffer, start, end } = roomy(text, room);
  const piece = new Piece().set(buffer, start, end, last);
  piece.roomBefore = room;
  piece.roomAfter = room;
  return piece;
}

const LARGE = 'x'.repeat(140_000);
const bodyOf = (text: string): string => text.slice(text.indexOf('\r\n\r\n') + 4);

describe('RequestWriter', () => {
  it('queues until the connection is there', () => {
    const { wire, writer } = setUp();
    expect(writer.begin(head(4), part('ab'))).to.equal(PENDING);
    expect(writer.data(part('cd', true))).to.equal(PENDING);
    expect(wire.writes).to.deep.equal([]);
    writer.flush();
    expect(wire.writes).to.have.length(1);
    expect(wire.text)
      .to.match(/^POST \/x HTTP\/1\.1\r\n/)
      .and.contain('host: a.test\r\n');
    expect(bodyOf(wire.text)).to.equal('abcd');
    expect([writer.done, writer.pending]).to.deep.equal([true, false]);
  });

  it('queues nothing when it is not even begun', () => {
    const { wire, writer } = setUp();
    writer.flush();
    expect(wire.writes).to.deep.equal([]);
  });

  it('writes chunks, with and without room around them', () => {
    for (const room of [0, 64]) {
      const { wire, writer } = connected();
      writer.begin(head(-1), part('', false));
      writer.data(part('abc', false, room));
      expect(writer.data(part(''))).to.equal(WRITTEN);
      writer.data(part('d', true, room));
      expect(wire.text).to.contain('transfer-encoding: chunked\r\n');
      expect(bodyOf(wire.text)).to.equal('3\r\nabc\r\n1\r\nd\r\n0\r\n\r\n');
    }
  });

  it('ends chunks with an empty part', () => {
    const { wire, writer } = connected();
    writer.begin(head(-1), part('a'));
    expect(writer.data(part('', true))).to.equal(WRITTEN);
    expect(bodyOf(wire.text)).to.equal('1\r\na\r\n0\r\n\r\n');
  });

  it('writes a large first part behind the head', () => {
    const { wire, writer } = connected();
    writer.begin(head(LARGE.length), part(LARGE, true));
    expect(wire.writes).to.have.length(2);
    expect(bodyOf(wire.text)).to.equal(LARGE);
    expect(writer.done).to.equal(true);
  });

  it('ends with trailers, which are left out when they are too large or have no place', () => {
    for (const [length, value, ending] of [
      [-1, '1', '1\r\na\r\n0\r\nx-sum: 1\r\n\r\n'],
      [-1, LARGE, '1\r\na\r\n0\r\n\r\n'],
      [1, '1', 'a'],
    ] as const) {
      const { wire, writer } = connected();
      writer.begin(head(length), part('a'));
      writer.trailers(new FieldList(['x-sum', value]));
      expect(bodyOf(wire.text)).to.equal(ending);
      expect(writer.done).to.equal(true);
    }
  });

  it('refuses a head that is beyond all measure', () => {
    const { wire, writer } = connected();
    expect(writer.begin(head(0, ['x-a', LARGE]), part('', true))).to.equal(FAILED);
    expect(wire.writes).to.deep.equal([]);
  });

  it('gives up the place of heads when the wire keeps it', () => {
    const { worker, wire, writer } = connected();
    const { scratch } = worker;
    wire.outcome = PENDING;
    expect(writer.begin(head(0), part('', true))).to.equal(PENDING);
    expect(writer.pending).to.equal(true);
    expect(worker.scratch.byteOffset, 'what is behind serves on').to.equal(wire.text.length);
    expect(worker.scratch.buffer).to.equal(scratch.buffer);
    const waiting = setUp();
    const before = waiting.worker.scratch;
    waiting.writer.begin(head(0), part('', true));
    expect(waiting.worker.scratch, 'a copy is queued').to.equal(before);
  });

  it('writes a tunnel bare', () => {
    const { wire, writer } = connected();
    writer.begin(head(-1, [], 'websocket'), part(''));
    expect(wire.text)
      .to.contain('upgrade: websocket\r\n')
      .and.match(/sec-websocket-key: [\w+/]{22}==\r\n/);
    writer.beginTunnel();
    expect(writer.done).to.equal(false);
    const { length } = wire.writes;
    writer.data(part('abc'));
    expect(writer.data(part('', true))).to.equal(WRITTEN);
    expect(wire.writes.slice(length)).to.deep.equal(['abc']);
    expect(writer.done).to.equal(true);
  });
});
