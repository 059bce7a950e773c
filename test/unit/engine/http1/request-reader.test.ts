import { expect } from 'chai';
import type { DownstreamContext } from '../../../../src/engine/exchange/downstream.js';
import { TimerWheel } from '../../../../src/engine/exchange/timer-wheel.js';
import { DEFAULT_DOWNSTREAM_TIMEOUTS, Http1Worker } from '../../../../src/engine/http1/http1-worker.js';
import {
  AWAITING_HEAD,
  BAD_REQUEST,
  BODY,
  BROKEN_BODY,
  DISCARDED,
  DISCARDING,
  ENDLESS,
  HEAD_BEGUN,
  NO_HTTP,
  NOTHING,
  PREFACE,
  REQUEST,
  RequestReader,
  SERVING,
  type ReadEvent,
} from '../../../../src/engine/http1/request-reader.js';
import { BufferPool } from '../../../../src/engine/wire/buffer-pool.js';
import { FakeConnection } from '../../../support/engine/fake-connection.js';

function setUp() {
  const wire = new FakeConnection();
  const worker = new Http1Worker({
    runner: {} as never, // nothing is run here
    wheel: new TimerWheel(),
    counters: new Float64Array(16),
    buffers: new BufferPool({ debug: true }),
    timeouts: DEFAULT_DOWNSTREAM_TIMEOUTS,
    http2: () => undefined,
    closed: () => undefined,
  });
  const reader = new RequestReader(worker, wire, { secure: false, trusted: false } as DownstreamContext);
  reader.buffer.share();
  /** Events until there is none, each with the payload that came. */
  const drain = (mayBegin = true): (ReadEvent | string)[] => {
    const seen: (ReadEvent | string)[] = [];
    let event: ReadEvent;
    do {
      event = reader.next(mayBegin);
      seen.push(event);
      if (event === REQUEST || event === BODY) seen.push(worker.piece.view().toString('latin1'));
    } while (event > NOTHING);
    reader.pause();
    return seen;
  };
  let mayBegin = true;
  let seen: (ReadEvent | string)[] = [];
  wire.handler = {
    ...wire.handler,
    onRead: (buffer, length) => {
      reader.buffer.locate(buffer, length);
      seen = drain(mayBegin);
    },
  };
  const read = (text: string, may = true): (ReadEvent | string)[] => {
    mayBegin = may;
    wire.receive(text);
    return seen;
  };
  /** Goes on with what was kept. */
  const goOn = (): (ReadEvent | string)[] => {
    reader.buffer.locateAhead();
    return drain();
  };
  return { reader, wire, worker, read, goOn };
}

const GET = 'GET / HTTP/1.1\r\nhost: a.test\r\n\r\n';
const post = (fields: string): string => `POST / HTTP/1.1\r\nhost: a.test\r\n${fields}\r\n\r\n`;

describe('RequestReader', () => {
  it('keeps what comes ahead of its turn', () => {
    const { reader, read, goOn } = setUp();
    expect(read(GET + GET)).to.deep.equal([REQUEST, '', NOTHING]);
    expect(reader.phase).to.equal(SERVING);
    expect(reader.buffer.ahead?.toString()).to.equal(GET);
    reader.phase = AWAITING_HEAD;
    expect(goOn()).to.deep.equal([REQUEST, '', NOTHING]);
    expect(reader.buffer.ahead).to.equal(undefined);
  });

  it('begins no request while the response before it has not left', () => {
    const { read, goOn } = setUp();
    expect(read(GET, false)).to.deep.equal([NOTHING]);
    expect(goOn()).to.deep.equal([REQUEST, '', NOTHING]);
  });

  it('puts a head together wherever it is cut, behind an empty line too', () => {
    const text = `\r\n${GET}`;
    for (let at = 1; at < text.length; at++) {
      const { read } = setUp();
      expect(read(text.slice(0, at)), `cut at ${at}`).to.deep.equal([at > 2 ? HEAD_BEGUN : NOTHING]);
      expect(read(text.slice(at)), `cut at ${at}`).to.deep.equal([REQUEST, '', NOTHING]);
    }
    const twice = setUp();
    expect(twice.read(`\r\n\r\n${GET}`), 'one line only').to.deep.equal([BAD_REQUEST, NOTHING]);
  });

  it('tells once that a head has begun', () => {
    const { read } = setUp();
    expect(read('GET / ')).to.deep.equal([HEAD_BEGUN]);
    expect(read('HTTP/1.1\r\n')).to.deep.equal([NOTHING]);
    expect(read('host: a.test\r\n\r\n')).to.deep.equal([REQUEST, '', NOTHING]);
  });

  it('cuts the body, unless it is held or lent', () => {
    const { reader, read, goOn } = setUp();
    expect(read(`${post('content-length: 4')}a`)).to.deep.equal([REQUEST, 'a', NOTHING]);
    reader.held = true;
    expect(read('b')).to.deep.equal([NOTHING]);
    reader.resume();
    reader.buffer.lent = true;
    expect(goOn()).to.deep.equal([NOTHING]);
    expect(read('c')).to.deep.equal([NOTHING]);
    reader.resume();
    expect(goOn()).to.deep.equal([BODY, 'bc', NOTHING]);
    expect(read(`d${GET}`)).to.deep.equal([BODY, 'd', NOTHING]);
    expect(reader.buffer.ahead?.toString()).to.equal(GET);
  });

  it('holds a body whose client waits to be told to send it', () => {
    const { reader, read } = setUp();
    read(post('content-length: 1\r\nexpect: 100-continue'));
    expect([reader.continueDue, reader.held, reader.flows]).to.deep.equal([true, true, false]);
    const impatient = setUp();
    impatient.read(`${post('content-length: 2\r\nexpect: 100-continue')}a`);
    expect([impatient.reader.continueDue, impatient.reader.held]).to.deep.equal([false, false]);
  });

  it('drops the rest of a body, up to a limit', () => {
    const { reader, read } = setUp();
    read(post('content-length: 3'));
    expect(reader.isRestLong).to.equal(false);
    reader.discard();
    expect(read('ab')).to.deep.equal([NOTHING]);
    expect(reader.phase).to.equal(DISCARDING);
    expect(read('c')).to.deep.equal([DISCARDED, NOTHING]);
    const long = setUp();
    long.read(post('content-length: 300000'));
    expect(long.reader.isRestLong).to.equal(true);
    long.reader.discard();
    const seen = Array.from({ length: 5 }, () => long.read('x'.repeat(60_000))[0]);
    expect(seen).to.deep.equal([NOTHING, NOTHING, NOTHING, NOTHING, ENDLESS]);
  });

  it('says what it refuses', () => {
    for (const [text, event, status] of [
      [`${GET.slice(0, -2)}bad field\r\n\r\n`, BAD_REQUEST, 400],
      [`${post('transfer-encoding: chunked')}zz\r\n`, BAD_REQUEST, 400],
      ['INVALID CONNECTION PREFACE\r\n\r\n', NO_HTTP, 400],
    ] as const) {
      const { reader, read } = setUp();
      expect(read(text)[0], text).to.equal(event);
      expect(reader.status).to.equal(status);
      expect(reader.problem).not.to.equal('');
    }
    const later = setUp();
    later.read(`${post('transfer-encoding: chunked')}1\r\na\r\n`);
    expect(later.read('zz\r\n')).to.deep.equal([BROKEN_BODY, NOTHING]);
  });

  it('knows HTTP/2 before the first request only', () => {
    const preface = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n';
    const first = setUp();
    first.wire.handler = {
      ...first.wire.handler,
      onRead: (buffer, length) => {
        first.reader.buffer.locate(buffer, length);
        expect(first.reader.next(true)).to.equal(PREFACE);
        expect(first.reader.buffer.takeRest().toString()).to.equal(preface);
        expect(first.reader.next(true)).to.equal(NOTHING);
      },
    };
    first.wire.receive(preface);
    const second = setUp();
    second.read(GET);
    second.reader.phase = AWAITING_HEAD;
    expect(second.read(preface)[0]).to.equal(BAD_REQUEST);
  });

  it('reads while somebody wants it', () => {
    const { reader, wire, read } = setUp();
    reader.setReading();
    read(GET);
    for (const length of [60_000, 10_000]) read('x'.repeat(length));
    reader.setReading();
    expect(wire.calls, 'so much ahead').to.deep.equal(['resume', 'pause']);
    reader.linger();
    reader.setReading();
    expect(wire.calls).to.deep.equal(['resume', 'pause', 'resume']);
    reader.leave();
    reader.setReading();
    expect(wire.calls).to.have.length(3);
  });
});
