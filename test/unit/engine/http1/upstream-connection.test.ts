import { expect } from 'chai';
import { PlainRequestHead } from '../../../../src/engine/exchange/heads.js';
import { Piece } from '../../../../src/engine/exchange/piece.js';
import { TimerWheel } from '../../../../src/engine/exchange/timer-wheel.js';
import type { UpstreamHandler } from '../../../../src/engine/exchange/upstream.js';
import { Http1UpstreamConnection } from '../../../../src/engine/http1/upstream-connection.js';
import { Http1UpstreamWorker } from '../../../../src/engine/http1/http1-upstream-worker.js';
import { BufferPool, type PooledBuffer } from '../../../../src/engine/wire/buffer-pool.js';
import { FAILED, PENDING, WRITTEN, type WriteOutcome } from '../../../../src/engine/wire/wire.js';
import { FakeConnection } from '../../../support/engine/fake-connection.js';

/** Notes what it hears and answers as told. */
class Recorder implements UpstreamHandler {
  readonly heard: string[] = [];
  outcome: WriteOutcome = WRITTEN;
  pooled: PooledBuffer | undefined;
  /** Runs within the call that brings the head. */
  atHead: () => void = () => undefined;

  onUpstreamInformational(head: { status: number }): void {
    this.heard.push(`interim ${head.status}`);
    this.atHead();
  }

  onUpstreamHead(head: { status: number }, piece: Piece): WriteOutcome {
    this.heard.push(`head ${head.status}`);
    this.atHead();
    return this.onUpstreamData(piece);
  }

  onUpstreamData(piece: Piece): WriteOutcome {
    this.heard.push(`data ${piece.view().toString('latin1')}${piece.last ? '.' : ''}`);
    this.pooled = piece.pooled;
    return this.outcome;
  }

  onUpstreamTrailers(): void {
    this.heard.push('trailers');
  }

  onUpstreamDrain(): void {
    this.heard.push('drain');
  }

  onUpstreamFailure({ kind, detail }: { kind: string; detail: string }): void {
    this.heard.push(`failure ${kind}: ${detail}`);
  }
}

interface RequestOptions {
  readonly method?: string;
  readonly upgrade?: string;
  readonly body?: string;
  readonly last?: boolean;
  readonly contentLength?: number;
}

function setUp(request: RequestOptions = {}, connect = true) {
  const wire = new FakeConnection();
  const worker = new Http1UpstreamWorker({
    wire: { name: 'net', listen: () => Promise.reject(new Error('unused')), connect: () => wire },
    wheel: new TimerWheel(),
    counters: new Float64Array(16),
    buffers: new BufferPool({ debug: true }),
  });
  const pool: string[] = [];
  const connection = new Http1UpstreamConnection(
    worker,
    {
      onIdle: () => pool.push('idle'),
      onGone: () => pool.push('gone'),
      onRequestOver: () => pool.push('over'),
      kindOf: (error) => (error?.code.startsWith('ERR_TLS') === true ? 'tls' : 'connect'),
    },
    { address: '127.0.0.1', port: 1 },
  );
  connection.connect((handler) => {
    wire.handler = handler;
    return wire;
  });
  const begin = (options: RequestOptions = request): Recorder => {
    const { method = 'GET', upgrade = '', body = '', last = true, contentLength = body.length } = options;
    const handler = new Recorder();
    const head = new PlainRequestHead({
      method,
      upgrade,
      contentLength,
      scheme: 'http',
      authority: 'a.test',
      path: '/',
    });
    const bytes = Buffer.from(body);
    connection.begin({ head, piece: new Piece().set(bytes, 0, bytes.length, last), mayReuse: true }, handler);
    return handler;
  };
  const handler = begin();
  if (connect) connection.onConnect();
  return { wire, worker, pool, connection, handler, begin };
}

const OK = 'HTTP/1.1 200 OK\r\n';

describe('Http1UpstreamConnection', () => {
  it('serves one request after the other', () => {
    const { wire, pool, connection, handler, begin } = setUp();
    wire.receive(`${OK}content-length: 2\r\n\r\nab`);
    expect(handler.heard).to.deep.equal(['head 200', 'data ab.']);
    expect(pool).to.deep.equal(['over', 'idle']);
    const second = begin();
    expect(connection.reused).to.equal(true);
    wire.receive(`${OK}content-length: 0\r\nconnection: close\r\n\r\n`);
    expect(second.heard).to.deep.equal(['head 200', 'data .']);
    expect(pool.slice(2)).to.deep.equal(['over', 'gone']);
  });

  it('puts a head together that comes in parts', () => {
    const { wire, handler } = setUp();
    for (const text of ['HTT', 'P/1.1 200 OK\r\ncontent-', 'length: 1\r\n', '\r\na']) wire.receive(text);
    expect(handler.heard).to.deep.equal(['head 200', 'data a.']);
  });

  describe('interim responses', () => {
    it('are passed on, except 100, wherever they are cut', () => {
      const { wire, handler } = setUp();
      wire.receive('HTTP/1.1 100 Continue\r\n\r\n');
      wire.receive('HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 1');
      wire.receive('03 Early Hints\r\n\r\n');
      wire.receive(`${OK}content-length: 0\r\n\r\n`);
      expect(handler.heard).to.deep.equal(['interim 103', 'interim 103', 'head 200', 'data .']);
    });

    it('are not borne without end', () => {
      const { wire, handler } = setUp();
      wire.receive('HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(40));
      expect(handler.heard.filter((line) => line === 'interim 103')).to.have.length(32);
      expect(handler.heard.at(-1)).to.equal('failure protocol: too many interim responses');
    });

    it('may make the handler give up', () => {
      const { wire, connection, handler, pool } = setUp();
      handler.atHead = () => {
        connection.abort();
      };
      wire.receive(`HTTP/1.1 103 Early Hints\r\n\r\n${OK}content-length: 0\r\n\r\n`);
      expect(handler.heard).to.deep.equal(['interim 103']);
      expect(pool).to.deep.equal(['over', 'gone']);
    });
  });

  describe('fails', () => {
    for (const [what, texts, failure] of [
      ['a head that is none', ['nonsense\r\n\r\n'], /^failure protocol: ./],
      ['a head without end', Array.from({ length: 3 }, () => 'x'.repeat(30_000)), /^failure protocol: ./],
      ['an upgrade unasked', ['HTTP/1.1 101 Switching Protocols\r\n\r\n'], /upgraded unasked$/],
      [
        'a chunk in the first read',
        [`${OK}transfer-encoding: chunked\r\n\r\nzz\r\n`],
        /^failure protocol: ./,
      ],
      [
        'a chunk in a later read',
        [`${OK}transfer-encoding: chunked\r\n\r\n1\r\na\r\n`, 'zz\r\n'],
        /^failure protocol: ./,
      ],
    ] as const) {
      it(`by ${what}`, () => {
        const { wire, handler, pool } = setUp();
        for (const text of texts) if (!pool.includes('gone')) wire.receive(text);
        expect(handler.heard.at(-1)).to.match(failure);
        expect(pool).to.deep.equal(['over', 'gone']);
      });
    }

    it('by a head that is larger than allowed', () => {
      const { wire, handler } = setUp();
      wire.receive(`${OK}x-a: ${'x'.repeat(60_000)}`);
      wire.receive('x'.repeat(5_000));
      wire.receive('x'.repeat(5_000));
      expect(handler.heard).to.have.length(1);
      expect(handler.heard[0]).to.match(/^failure protocol: .*(large|long)/);
    });

    for (const [before, ended, closed] of [
      ['', 'early: the backend closed before the response', 'early: ECONNRESET'],
      [
        'HTTP/1.1 200',
        'protocol: the backend closed within the head of the response',
        'truncated: ECONNRESET',
      ],
      [
        `${OK}content-length: 5\r\n\r\nab`,
        'truncated: the backend closed within the response',
        'truncated: ECONNRESET',
      ],
      [
        `${OK}transfer-encoding: chunked\r\n\r\n`,
        'truncated: the backend closed within the response',
        'truncated: ECONNRESET',
      ],
    ] as const) {
      it(`by an end after ${JSON.stringify(before)}`, () => {
        const orderly = setUp();
        if (before !== '') orderly.wire.receive(before);
        orderly.connection.onEnd();
        expect(orderly.handler.heard.at(-1)).to.equal(`failure ${ended}`);
        const { length } = orderly.handler.heard;
        orderly.connection.onClose(undefined);
        expect(orderly.handler.heard).to.have.length(length);

        const broken = setUp();
        if (before !== '') broken.wire.receive(before);
        broken.connection.onClose({ code: 'ECONNRESET', message: 'reset' });
        expect(broken.handler.heard.at(-1)).to.equal(`failure ${closed}`);
      });
    }

    it('by a connection that is not made', () => {
      for (const [error, failure] of [
        [undefined, 'failure connect: closed'],
        [{ code: 'ECONNREFUSED', message: 'refused' }, 'failure connect: refused'],
        [{ code: 'ERR_TLS_CERT', message: 'not for this name' }, 'failure tls: not for this name'],
      ] as const) {
        const { connection, handler } = setUp({}, false);
        connection.onClose(error);
        expect(handler.heard).to.deep.equal([failure]);
      }
    });

    it('when the gateway closes its connections', () => {
      const busy = setUp();
      busy.connection.close();
      expect(busy.handler.heard).to.deep.equal(['failure truncated: the gateway closes its connections']);
      const idle = setUp();
      idle.wire.receive(`${OK}content-length: 0\r\n\r\n`);
      idle.connection.close();
      idle.connection.close();
      expect(idle.pool).to.deep.equal(['over', 'idle', 'gone']);
      idle.connection.onConnect();
      expect(idle.wire.calls.filter((call) => call === 'resume')).to.have.length(1);
    });
  });

  it('takes the end of the connection for the end of a body without length', () => {
    const { wire, connection, handler, pool } = setUp();
    wire.receive(`${OK}\r\nab`);
    wire.receive('cd');
    connection.onEnd();
    expect(handler.heard).to.deep.equal(['head 200', 'data ab', 'data cd', 'data .']);
    expect(pool).to.deep.equal(['over', 'gone']);
  });

  it('expects no body after HEAD, 204 and 304', () => {
    for (const [method, status] of [
      ['HEAD', '200 OK'],
      ['GET', '204 No Content'],
      ['GET', '304 Not Modified'],
    ] as const) {
      const { wire, handler, pool } = setUp({ method });
      wire.receive(`HTTP/1.1 ${status}\r\ncontent-length: 5\r\n\r\n`);
      expect(handler.heard.at(-1)).to.equal('data .');
      expect(pool).to.deep.equal(['over', 'idle']);
    }
  });

  it('is not used again after a byte too many', () => {
    const { wire, handler, pool } = setUp();
    wire.receive(`${OK}content-length: 2\r\n\r\nabc`);
    expect(handler.heard).to.deep.equal(['head 200', 'data ab.']);
    expect(pool).to.deep.equal(['over', 'gone']);
  });

  it('closes when bytes come while it is idle, or the backend ends it', () => {
    const poisoned = setUp();
    poisoned.wire.receive(`${OK}content-length: 0\r\n\r\n`);
    poisoned.wire.receive(OK);
    const ended = setUp();
    ended.wire.receive(`${OK}content-length: 0\r\n\r\n`);
    ended.connection.onEnd();
    const closed = setUp();
    closed.wire.receive(`${OK}content-length: 0\r\n\r\n`);
    closed.connection.onClose(undefined);
    for (const { pool } of [poisoned, ended, closed]) expect(pool).to.deep.equal(['over', 'idle', 'gone']);
  });

  it('gives its buffer back when it is idle, then closes', () => {
    const { wire, connection, pool, begin } = setUp();
    wire.receive(`${OK}content-length: 0\r\n\r\n`);
    connection.park(10_000);
    connection.expire();
    expect(pool).to.deep.equal(['over', 'idle']);
    const second = begin();
    connection.expire();
    wire.receive(`${OK}content-length: 1\r\n\r\na`);
    expect(second.heard).to.deep.equal(['head 200', 'data a.']);
    connection.park(1_000);
    connection.expire();
    expect(pool.at(-1)).to.equal('gone');
  });

  it('closes at once or after its response when it is retired', () => {
    const idle = setUp();
    idle.wire.receive(`${OK}content-length: 0\r\n\r\n`);
    idle.connection.retire();
    expect(idle.pool).to.deep.equal(['over', 'idle', 'gone']);
    const busy = setUp();
    busy.wire.receive(`${OK}content-length: 2\r\n\r\n`);
    busy.connection.retire();
    busy.wire.receive('ab');
    expect(busy.handler.heard.at(-1)).to.equal('data ab.');
    expect(busy.pool).to.deep.equal(['over', 'gone']);
    const asking = setUp();
    asking.connection.retire();
    asking.wire.receive(`${OK}content-length: 0\r\n\r\n`);
    expect(asking.handler.heard.at(-1)).to.equal('data .');
    expect(asking.pool).to.deep.equal(['over', 'gone']);
  });

  it('pauses until what was pending is taken', () => {
    const { wire, connection, handler } = setUp();
    handler.outcome = PENDING;
    wire.receive(`${OK}content-length: 4\r\n\r\nab`);
    expect(wire.calls).to.deep.equal(['resume', 'pause']);
    connection.resume();
    connection.resume();
    expect(wire.calls).to.deep.equal(['resume', 'pause', 'resume']);
    wire.receive('cd');
    expect(handler.heard.at(-1)).to.equal('data cd.');
  });

  it('leaves its buffer to who has not sent the last piece yet', () => {
    const { wire, worker, pool, handler, begin } = setUp();
    wire.receive(`${OK}content-length: 4\r\n\r\nab`);
    expect(handler.pooled, 'not the last piece').to.equal(undefined);
    handler.outcome = PENDING;
    wire.receive('cd');
    const pinned = handler.pooled!;
    expect(pool).to.deep.equal(['over', 'idle']);
    worker.buffers.release(pinned);

    const next = begin();
    wire.receive(`${OK}content-length: 2\r\n\r\nab`);
    expect(next.heard.at(-1)).to.equal('data ab.');
    expect(next.pooled, 'reads elsewhere').not.to.equal(pinned);
    expect(worker.buffers.acquire()).to.equal(pinned);
  });

  it('does not wake after it was closed while it was paused', () => {
    const { wire, connection, handler } = setUp();
    handler.outcome = PENDING;
    wire.receive(`${OK}content-length: 4\r\n\r\nab`);
    connection.abort();
    connection.resume();
    expect(wire.calls).to.deep.equal(['resume', 'pause', 'destroy']);
  });

  it('says when the body of the request may flow again', () => {
    const { wire, connection, handler } = setUp({ method: 'POST', body: 'a', last: false, contentLength: 3 });
    const rest = Buffer.from('b');
    wire.outcome = PENDING;
    expect(connection.sendData(new Piece().set(rest, 0, 1, false))).to.equal(PENDING);
    connection.onDrain();
    connection.onDrain();
    expect(handler.heard).to.deep.equal(['drain']);
    wire.outcome = WRITTEN;
    expect(connection.sendData(new Piece().set(rest, 0, 1, true))).to.equal(WRITTEN);
    expect(wire.text).to.match(/\r\n\r\nabb$/);
  });

  it('is closed when the response was complete before the request', () => {
    const { wire, handler, pool } = setUp({ method: 'POST', body: 'a', last: false, contentLength: 3 });
    wire.receive(`${OK}content-length: 0\r\n\r\n`);
    expect(handler.heard).to.deep.equal(['head 200', 'data .']);
    expect(pool).to.deep.equal(['over', 'gone']);
  });

  it('passes trailers on, unless the handler has given up within the call', () => {
    const text = `${OK}transfer-encoding: chunked\r\n\r\n1\r\na\r\n0\r\nx-sum: 1\r\n\r\n`;
    const { wire, handler, pool } = setUp();
    wire.receive(text);
    expect(handler.heard).to.deep.equal(['head 200', 'data a', 'trailers']);
    expect(pool).to.deep.equal(['over', 'idle']);
    const other = setUp();
    other.handler.atHead = () => {
      other.connection.abort();
    };
    other.handler.outcome = FAILED;
    other.wire.receive(text);
    expect(other.handler.heard).to.deep.equal(['head 200', 'data a']);
    expect(other.pool).to.deep.equal(['over', 'gone']);
  });

  describe('a tunnel', () => {
    const opened = () => {
      const set = setUp({ upgrade: 'echo', last: false });
      set.wire.receive('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: echo\r\n\r\nhi');
      return set;
    };
    const lastPiece = () => new Piece().clear(true);

    it('ends when both sides have ended, the backend first', () => {
      const { wire, connection, handler, pool } = opened();
      wire.receive('there');
      expect(handler.heard).to.deep.equal(['head 101', 'data hi', 'data there']);
      connection.onEnd();
      expect(handler.heard.at(-1)).to.equal('data .');
      expect(pool).to.deep.equal([]);
      connection.sendData(lastPiece());
      expect(wire.calls).to.deep.equal(['resume', 'end', 'destroy']);
      expect(pool).to.deep.equal(['over', 'gone']);
    });

    it('ends when both sides have ended, the client first', () => {
      const { connection, handler, pool } = opened();
      connection.sendData(lastPiece());
      connection.onDrain();
      expect(pool).to.deep.equal([]);
      connection.onEnd();
      expect(handler.heard.at(-1)).to.equal('data .');
      expect(pool).to.deep.equal(['over', 'gone']);
    });

    it('ends after what is still to be written', () => {
      const { wire, connection, pool } = opened();
      wire.outcome = PENDING;
      const bytes = Buffer.from('bye');
      connection.sendData(new Piece().set(bytes, 0, 3, true));
      connection.onEnd();
      expect(pool).to.deep.equal([]);
      connection.onDrain();
      connection.onDrain();
      expect(pool).to.deep.equal(['over', 'gone']);
    });

    it('is truncated by a reset', () => {
      const { connection, handler } = opened();
      connection.onClose({ code: 'ECONNRESET', message: 'reset' });
      expect(handler.heard.at(-1)).to.equal('failure truncated: ECONNRESET');
    });
  });
});
