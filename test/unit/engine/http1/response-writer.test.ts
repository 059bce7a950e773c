import { expect } from 'chai';
import { FieldList } from '../../../../src/engine/exchange/fields.js';
import { PlainResponseHead } from '../../../../src/engine/exchange/heads.js';
import { Piece } from '../../../../src/engine/exchange/piece.js';
import { TimerWheel } from '../../../../src/engine/exchange/timer-wheel.js';
import { DEFAULT_DOWNSTREAM_TIMEOUTS, Http1Worker } from '../../../../src/engine/http1/http1-worker.js';
import { RawRequestHead } from '../../../../src/engine/http1/raw-heads.js';
import { ResponseWriter } from '../../../../src/engine/http1/response-writer.js';
import { BufferPool } from '../../../../src/engine/wire/buffer-pool.js';
import { FAILED, PENDING, WRITTEN } from '../../../../src/engine/wire/wire.js';
import { FakeConnection, roomy } from '../../../support/engine/fake-connection.js';

function setUp(request: Partial<Pick<RawRequestHead, 'method' | 'minor' | 'upgrade'>> = {}) {
  const worker = new Http1Worker({
    runner: {
      begin: () => {
        throw new Error('no request is expected');
      },
      reject: () => undefined,
    },
    wheel: new TimerWheel(),
    counters: [] as never, // counts of these connections are not asked for
    buffers: new BufferPool({ debug: true }),
    timeouts: DEFAULT_DOWNSTREAM_TIMEOUTS,
    closed: () => undefined,
  });
  const wire = new FakeConnection();
  const writer = new ResponseWriter(worker, wire);
  writer.reset(Object.assign(new RawRequestHead(), { method: 'GET' }, request));
  return { worker, wire, writer };
}

const empty = (last = false): Piece => new Piece().clear(last);

function part(text: string, last = false, room = 0): Piece {
  const { buffer, start, end } = roomy(text, room);
  const piece = new Piece().set(buffer, start, end, last);
  piece.roomBefore = room;
  piece.roomAfter = room;
  return piece;
}

const ok = (length = -1, flat: string[] = []): PlainResponseHead =>
  new PlainResponseHead(200, new FieldList(flat), length);

const OK = 'HTTP/1.1 200 OK\r\n';
const CHUNKED = `${OK}transfer-encoding: chunked\r\n\r\n`;
/** More than the place where heads are written holds. */
const LARGE = 'x'.repeat(40_000);

describe('ResponseWriter', () => {
  describe('a body of known length', () => {
    for (const [what, room] of [
      ['behind the head', 0],
      ['with the head in its own buffer', 1024],
    ] as const) {
      it(`goes in one write, ${what}`, () => {
        const { wire, writer } = setUp();
        expect(writer.head(ok(), part('abc', true, room))).to.equal(WRITTEN);
        expect(wire.writes).to.deep.equal([`${OK}content-length: 3\r\n\r\nabc`]);
        expect(writer.done).to.equal(true);
      });
    }

    it('goes beside the head when it is large', () => {
      const { wire, writer } = setUp();
      writer.head(ok(), part(LARGE, true));
      expect(wire.writes).to.deep.equal([`${OK}content-length: 40000\r\n\r\n${LARGE}`]);
    });

    it('must be as long as announced', () => {
      expect(setUp().writer.head(ok(2), part('abc'))).to.equal(FAILED);
      expect(setUp().writer.head(ok(4), part('abc', true))).to.equal(FAILED);
      for (const [text, last] of [
        ['abcd', false],
        ['ab', true],
      ] as const) {
        const { writer } = setUp();
        expect(writer.head(ok(5), part('ab'))).to.equal(WRITTEN);
        expect(writer.data(part(text, last))).to.equal(FAILED);
        expect(writer.done).to.equal(false);
      }
    });

    it('may end with an empty part, or with trailers that are left out', () => {
      const { wire, writer } = setUp();
      writer.head(ok(2), part('ab'));
      expect(writer.data(empty(true))).to.equal(WRITTEN);
      expect(writer.done).to.equal(true);
      expect(wire.writes).to.have.length(1);

      const other = setUp();
      other.writer.head(ok(2), part('ab'));
      expect(other.writer.trailers(new FieldList(['x-sum', '1']))).to.equal(WRITTEN);
      expect(other.wire.text).not.to.contain('x-sum');
    });

    it('is broken by trailers that come too early', () => {
      const { writer } = setUp();
      writer.head(ok(5), part('ab'));
      expect(writer.trailers(new FieldList())).to.equal(FAILED);
    });

    it('is empty', () => {
      const { wire, writer } = setUp();
      writer.head(ok(), empty(true));
      expect(wire.writes).to.deep.equal([`${OK}content-length: 0\r\n\r\n`]);
    });
  });

  describe('a body in chunks', () => {
    for (const room of [0, 1024]) {
      it(`is framed with ${room} bytes of room`, () => {
        const { wire, writer } = setUp();
        writer.head(ok(), part('abc', false, room));
        expect(wire.writes).to.deep.equal([`${CHUNKED}3\r\nabc\r\n`]);
        writer.data(part('x'.repeat(20), false, room));
        writer.data(empty());
        expect(writer.done).to.equal(false);
        writer.data(part('de', true, room));
        expect(writer.done).to.equal(true);
        expect(wire.writes.slice(1)).to.deep.equal([`14\r\n${'x'.repeat(20)}\r\n`, '2\r\nde\r\n0\r\n\r\n']);
      });
    }

    it('is not copied when it is large', () => {
      const { wire, writer } = setUp();
      writer.head(ok(), part(LARGE));
      expect(wire.text).to.equal(`${CHUNKED}9c40\r\n${LARGE}\r\n`);
      expect(writer.data(part(LARGE, true))).to.equal(WRITTEN);
      expect(wire.text).to.equal(`${CHUNKED}${`9c40\r\n${LARGE}\r\n`.repeat(2)}0\r\n\r\n`);
      wire.outcome = PENDING;
      expect(writer.data(part(LARGE, true))).to.equal(PENDING);
      expect(writer.pending).to.equal(true);
    });

    it('ends with an empty part', () => {
      const { wire, writer } = setUp();
      writer.head(ok(), empty());
      expect(writer.data(empty(true))).to.equal(WRITTEN);
      expect(wire.writes).to.deep.equal([CHUNKED, '0\r\n\r\n']);
    });

    it('ends with trailers, which are left out when they are too large', () => {
      const { wire, writer } = setUp();
      writer.head(ok(), part('a'));
      writer.trailers(new FieldList(['x-sum', '1']));
      expect(wire.text).to.equal(`${CHUNKED}1\r\na\r\n0\r\nx-sum: 1\r\n\r\n`);

      const other = setUp();
      other.writer.head(ok(), part('a'));
      expect(other.writer.trailers(new FieldList(['x-sum', LARGE]))).to.equal(WRITTEN);
      expect(other.wire.text).to.equal(`${CHUNKED}1\r\na\r\n0\r\n\r\n`);
    });
  });

  it('ends what an HTTP/1.0 client cannot measure with the connection', () => {
    const { wire, writer } = setUp({ minor: 0 });
    writer.head(ok(), part('ab'));
    writer.data(empty());
    writer.data(part('cd', true));
    expect(wire.writes).to.deep.equal([`${OK}connection: close\r\n\r\nab`, 'cd']);
    expect(writer.close).to.equal(true);
    expect(writer.done).to.equal(true);
  });

  it('sends no body where none is allowed', () => {
    const { wire, writer } = setUp({ method: 'HEAD' });
    writer.head(ok(3, ['content-length', '3']), part('abc', true));
    expect(writer.data(part('abc', true))).to.equal(WRITTEN);
    expect(writer.trailers(new FieldList(['x-sum', '1']))).to.equal(WRITTEN);
    expect(wire.text).to.equal(`${OK}content-length: 3\r\n\r\n`);
    for (const status of [204, 304]) {
      const other = setUp();
      other.writer.head(new PlainResponseHead(status, new FieldList(), -1), part('abc', true));
      expect(other.wire.text)
        .to.match(/\r\n\r\n$/)
        .and.not.contain('abc');
    }
  });

  it('takes the length away from a 204', () => {
    const { wire, writer } = setUp();
    writer.head(new PlainResponseHead(204, new FieldList(['content-length', '0']), 0), empty(true));
    expect(wire.text).to.equal('HTTP/1.1 204 No Content\r\n\r\n');
  });

  it('opens a tunnel whose bytes go bare', () => {
    const { wire, writer } = setUp({ upgrade: 'echo' });
    writer.head(new PlainResponseHead(101), part('hi'));
    writer.data(part('there'));
    expect(wire.text).to.equal(
      'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: echo\r\n\r\nhithere',
    );
  });

  it('writes a large head elsewhere, and refuses one that is beyond all measure', () => {
    const { wire, writer } = setUp();
    expect(writer.head(ok(0, ['x-a', LARGE]), empty(true))).to.equal(WRITTEN);
    expect(wire.text).to.contain(LARGE);
    expect(setUp().writer.head(ok(0, ['x-a', LARGE.repeat(5)]), empty(true))).to.equal(FAILED);
  });

  it('gives up the place of heads when the wire keeps it', () => {
    const { worker, wire, writer } = setUp();
    const { scratch } = worker;
    writer.head(ok(5), part('a'));
    expect(worker.scratch).to.equal(scratch);
    wire.outcome = PENDING;
    expect(writer.data(part('b'))).to.equal(PENDING);
    expect(worker.scratch).to.equal(scratch);
    const other = setUp();
    const before = other.worker.scratch;
    other.wire.outcome = PENDING;
    expect(other.writer.head(ok(5), part('a'))).to.equal(PENDING);
    const { length } = other.wire.text;
    expect(other.worker.scratch.buffer, 'what is behind serves on').to.equal(before.buffer);
    expect(other.worker.scratch.byteOffset).to.equal(before.byteOffset + length);
    for (let i = 0; i < 1_000; i++) {
      other.writer.head(ok(5), part('a'));
      expect(other.worker.scratch.length).to.equal(before.length);
    }
    expect(other.worker.scratch.buffer).not.to.equal(before.buffer);
  });

  it('gives back what it kept when everything was taken', () => {
    const { worker, wire, writer } = setUp();
    const pinned = worker.buffers.acquire();
    const taken = worker.buffers.acquire();
    writer.head(ok(3), new Piece().setPooled(pinned, 100, 101, false));
    expect(writer.data(new Piece().setPooled(taken, 100, 102, true))).to.equal(WRITTEN);
    wire.outcome = PENDING;
    writer.reset(new RawRequestHead());
    writer.head(ok(3), new Piece().setPooled(pinned, 100, 101, false));
    writer.drained();
    writer.data(new Piece().setPooled(pinned, 100, 102, true));
    expect(writer.pending).to.equal(true);
    writer.drained();
    writer.drained();
    expect(writer.pending).to.equal(false);
    expect(worker.buffers.acquire()).to.equal(pinned);
    expect(worker.buffers.acquire()).not.to.equal(pinned);
  });

  describe('interim responses', () => {
    const hints = new PlainResponseHead(103, new FieldList(['link', '</a>']));

    it('go before the head', () => {
      const { wire, writer } = setUp();
      writer.continue();
      writer.informational(hints);
      expect(wire.writes).to.deep.equal([
        'HTTP/1.1 100 Continue\r\n\r\n',
        'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n',
      ]);
    });

    it('are left out when it is too late, for HTTP/1.0 and when they are too large', () => {
      const late = setUp();
      late.writer.head(ok(0), empty(true));
      late.writer.informational(hints);
      late.writer.continue();
      expect(late.wire.writes).to.have.length(1);
      const old = setUp({ minor: 0 });
      old.writer.informational(hints);
      const large = setUp();
      large.writer.informational(new PlainResponseHead(103, new FieldList(['link', LARGE])));
      expect([...old.wire.writes, ...large.wire.writes]).to.deep.equal([]);
    });
  });

  it('refuses what is no request and closes', () => {
    const { wire, writer } = setUp({ method: 'HEAD', minor: 0 });
    writer.refuse(400);
    expect(wire.text)
      .to.match(/^HTTP\/1\.1 400 Bad Request\r\n/)
      .and.contain('connection: close\r\n')
      .and.match(/400 Bad Request\n$/);
    expect(writer.done).to.equal(true);
  });
});
