import { expect } from 'chai';
import { PlainRequestHead } from '../../../../src/engine/exchange/heads.js';
import { TimerWheel } from '../../../../src/engine/exchange/timer-wheel.js';
import type { UpstreamHandler } from '../../../../src/engine/exchange/upstream.js';
import { Http1UpstreamWorker } from '../../../../src/engine/http1/http1-upstream-worker.js';
import {
  AWAITING_HEAD,
  BODY,
  BODY_CLOSE,
  COMPLETE,
  HEAD,
  MALFORMED,
  NOTHING,
  ResponseReader,
  TUNNEL,
  type Progress,
} from '../../../../src/engine/http1/response-reader.js';
import { BufferPool, HEADROOM, type PooledBuffer } from '../../../../src/engine/wire/buffer-pool.js';
import { FakeConnection } from '../../../support/engine/fake-connection.js';

function setUp({ method = 'GET', upgrade = '' } = {}) {
  const wire = new FakeConnection();
  const buffers = new BufferPool({ debug: true });
  const worker = new Http1UpstreamWorker({
    wire: { name: 'net', listen: () => Promise.reject(new Error('unused')), connect: () => wire },
    wheel: new TimerWheel(),
    counters: new Float64Array(16),
    buffers,
  });
  const reader = new ResponseReader(worker);
  reader.attach(wire);
  reader.takeBuffer();
  reader.expect(new PlainRequestHead({ method, upgrade, scheme: 'http', authority: 'a.test', path: '/' }));
  const interim: number[] = [];
  const handler: Pick<UpstreamHandler, 'onUpstreamInformational'> = {
    onUpstreamInformational: ({ status }) => interim.push(status),
  };
  let progress: Progress = NOTHING;
  wire.handler = { ...wire.handler, onRead: (_buffer, length) => (progress = reader.read(length, handler)) };
  /** What the reader makes of a read, and the payload that came with it. */
  const read = (text: string): [Progress, string] => {
    wire.receive(text);
    const { piece } = worker;
    return [progress, progress === HEAD || progress === BODY ? piece.view().toString('latin1') : ''];
  };
  return { reader, worker, buffers, handler, interim, read };
}

const OK = 'HTTP/1.1 200 OK\r\n';

describe('ResponseReader', () => {
  it('reads one response after the other', () => {
    const { reader, worker, read } = setUp();
    expect(read(`${OK}content-length: 4\r\nkeep-alive: timeout=7\r\n\r\nab`)).to.deep.equal([HEAD, 'ab']);
    expect(worker.piece.last).to.equal(false);
    expect(read('cd')).to.deep.equal([BODY, 'cd']);
    expect(worker.piece.last).to.equal(true);
    expect([reader.phase, reader.keeps, reader.keepAliveSeconds]).to.deep.equal([COMPLETE, true, 7]);
    reader.expect(new PlainRequestHead({ method: 'HEAD', scheme: 'http', authority: 'a.test', path: '/' }));
    expect(read(`${OK}content-length: 4\r\nconnection: close\r\n\r\n`)).to.deep.equal([HEAD, '']);
    expect([reader.phase, reader.keeps]).to.deep.equal([COMPLETE, false]);
  });

  it('begins with the first byte of a head', () => {
    const { reader, read } = setUp();
    expect(reader.begun).to.equal(false);
    expect(read('HTTP/1.1 103 Early Hints\r\n\r\n')).to.deep.equal([NOTHING, '']);
    expect(reader.begun, 'an interim response is not the response').to.equal(false);
    expect(read('H')).to.deep.equal([NOTHING, '']);
    expect(reader.begun).to.equal(true);
  });

  it('puts heads together wherever they are cut', () => {
    const text = `HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n${OK}content-length: 2\r\n\r\nab`;
    for (let at = 1; at < text.length - 2; at++) {
      const { reader, interim, read } = setUp();
      expect(read(text.slice(0, at))[0], `cut at ${at}`).to.equal(NOTHING);
      expect(read(text.slice(at)), `cut at ${at}`).to.deep.equal([HEAD, 'ab']);
      expect(interim).to.deep.equal([103]);
      expect(reader.phase).to.equal(COMPLETE);
    }
  });

  it('reads no further when the handler has given up', () => {
    const { reader, handler, read } = setUp();
    handler.onUpstreamInformational = () => {
      reader.stop(false);
    };
    expect(read(`HTTP/1.1 103 Early Hints\r\n\r\n${OK}content-length: 1\r\n\r\na`)).to.deep.equal([
      NOTHING,
      '',
    ]);
  });

  it('keeps no connection on which bytes follow the response, or that was given notice before it', () => {
    const longer = setUp();
    expect(longer.read(`${OK}content-length: 1\r\n\r\nab`)).to.deep.equal([HEAD, 'a']);
    expect(longer.reader.keeps).to.equal(false);
    const noticed = setUp();
    noticed.reader.keeps = false;
    noticed.read(`${OK}content-length: 0\r\n\r\n`);
    expect(noticed.reader.keeps).to.equal(false);
  });

  it('takes the chunked coding off, and has the trailers', () => {
    const { reader, worker, read } = setUp();
    expect(read(`${OK}transfer-encoding: chunked\r\n\r\n1\r\na\r\n`)).to.deep.equal([HEAD, 'a']);
    expect(read('1\r\nb\r\n0\r\nx-sum: 1\r\n\r\n')).to.deep.equal([BODY, 'b']);
    expect([reader.phase, worker.piece.last]).to.deep.equal([COMPLETE, false]);
    expect(reader.trailers?.get('x-sum')).to.equal('1');
    reader.expect(new PlainRequestHead({ method: 'GET', scheme: 'http', authority: 'a.test', path: '/' }));
    read(`${OK}transfer-encoding: chunked\r\n\r\n0\r\n\r\n`);
    expect([reader.phase, reader.keeps, reader.trailers]).to.deep.equal([COMPLETE, true, undefined]);
  });

  it('reads to the end of the connection where no length is said', () => {
    const { reader, read } = setUp();
    expect(read(`${OK}\r\na`)).to.deep.equal([HEAD, 'a']);
    expect([reader.phase, reader.keeps]).to.deep.equal([BODY_CLOSE, false]);
    reader.complete();
    expect(reader.phase).to.equal(COMPLETE);
  });

  it('begins a tunnel only when it was asked for', () => {
    const switching = 'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: echo\r\n\r\nhi';
    const asked = setUp({ upgrade: 'echo' });
    expect(asked.read(switching)).to.deep.equal([HEAD, 'hi']);
    expect(asked.reader.phase).to.equal(TUNNEL);
    const unasked = setUp();
    expect(unasked.read(switching)[0]).to.equal(MALFORMED);
    expect(unasked.reader.problem).to.equal('the backend upgraded unasked');
  });

  it('says what is malformed', () => {
    for (const [text, problem] of [
      ['nonsense\r\n\r\n', /./],
      [`${OK}transfer-encoding: chunked\r\n\r\nzz\r\n`, /chunk size is m/],
      ['HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(33), /^too many interim responses$/],
    ] as const) {
      const { reader, read } = setUp();
      expect(read(text)[0]).to.equal(MALFORMED);
      expect(reader.problem).to.match(problem);
    }
  });

  it('leaves the room before a piece to who writes a head there', () => {
    const { worker, read } = setUp();
    read(`${OK}content-length: 4\r\n\r\nab`);
    expect(worker.piece.roomBefore).to.equal(HEADROOM + `${OK}content-length: 4\r\n\r\n`.length);
    read('cd');
    expect(worker.piece.roomBefore).to.equal(HEADROOM);
  });

  it('gives its buffer back, or leaves it', () => {
    const { reader, worker, buffers, read } = setUp();
    read(`${OK}content-length: 1\r\n\r\na`);
    const pinned: PooledBuffer | undefined = worker.piece.pooled;
    reader.leaveBuffer();
    reader.takeBuffer();
    expect(pinned?.isFree).to.equal(false);
    reader.giveBuffer();
    const given = buffers.acquire();
    expect(given, 'the second one').not.to.equal(pinned);
    buffers.release(given);
    reader.takeBuffer();
    reader.stop(true);
    expect(reader.phase).to.equal(COMPLETE);
    expect(buffers.acquire()).to.equal(given);
    reader.stop(true);
  });

  it('expects nothing before the first request', () => {
    const { worker } = setUp();
    expect(new ResponseReader(worker).phase).to.equal(COMPLETE);
    expect(setUp().reader.phase).to.equal(AWAITING_HEAD);
  });
});
