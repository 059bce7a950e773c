import { expect } from 'chai';
import * as counter from '../../../src/telemetry/engine-counters.js';
import { WeightedBackends } from '../../../src/engine/upstream/weighted-backends.js';
import type { Http1Lab } from '../../support/engine/http1-lab.js';
import { labSuite } from '../../support/engine/lab-suite.js';
import { ok } from '../../support/engine/raw-origin.js';
import { until } from '../../support/until.js';

/** Nobody listens there. */
const DEAD_PORT = 1;
const GET = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';

labSuite('HTTP/1.1 backends', (suite) => {
  let lab: Http1Lab;
  const { answering, start } = suite;

  beforeEach(async () => {
    lab = await suite.startLab();
  });

  describe('H-09 truncated and over-long bodies', () => {
    const cases: readonly (readonly [string, string])[] = [
      ['sized, then FIN', 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n' + 'x'.repeat(50)],
      ['chunked, then FIN', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n'],
      ['chunked within a chunk', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel'],
    ];
    for (const [title, answer] of cases) {
      it(`${title}: the client sees an aborted transfer`, async () => {
        const origin = await start((connection) => {
          connection.onRequest(() => {
            connection.socket.end(answer);
          });
        });
        lab.route('/', [origin.port]);
        const client = await lab.client();
        client.send(GET);
        await client.closed();
        expect(client.text).to.match(/^HTTP\/1\.1 200 OK/);
        expect(client.text).not.to.match(/0\r\n\r\n$/);
        expect(lab.records[0]?.termination).to.equal('upstream');
      });
    }

    it('a reset within a body that ends by close is a reset for the client', async () => {
      const origin = await start((connection) => {
        connection.onRequest(() => {
          connection.send('HTTP/1.1 200 OK\r\n\r\npart');
        });
      });
      lab.route('/', [origin.port]);
      const client = await lab.client();
      client.send('GET / HTTP/1.0\r\n\r\n');
      await client.until(() => client.text.endsWith('part'));
      origin.connections[0]!.socket.resetAndDestroy();
      await client.closed();
      expect(client.error).to.equal('ECONNRESET');
    });

    it('more than the length: the rest is dropped and the connection not used again', async () => {
      const origin = await answering(
        () => 'HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabcHTTP/1.1 200 OK\r\n',
      );
      lab.route('/', [origin.port]);
      const client = await lab.client();
      expect((await client.get('/')).body).to.equal('abc');
      expect((await client.get('/')).body).to.equal('abc');
      expect(origin.connections.length).to.equal(2);
      client.destroy();
    });
  });

  for (const [title, answer] of [
    ['CL and TE', 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'],
    ['two CL', 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\nhello'],
    ['folded field', 'HTTP/1.1 200 OK\r\nA: b\r\n c\r\nContent-Length: 0\r\n\r\n'],
    ['bad chunk at once', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n'],
    ['101 unasked', 'HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n'],
    ['not HTTP', 'hello world, this is no response\r\n\r\n'],
  ] as const) {
    it(`a response that breaks framing is 502: ${title}`, async () => {
      const origin = await answering(() => answer);
      lab.route('/', [origin.port]);
      const client = await lab.client();
      expect((await client.get('/')).status).to.equal(502);
      expect((await client.get('/')).status).to.equal(502);
      expect(origin.connections.length).to.equal(2);
      client.destroy();
    });
  }

  it('bytes on an idle connection poison it', async () => {
    const origin = await answering(() => ok('fine'));
    lab.route('/', [origin.port]);
    const client = await lab.client();
    await client.get('/');
    origin.connections[0]!.send('HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil');
    await until(() => lab.counters[counter.UPSTREAM_POISONED_TOTAL] === 1);
    expect((await client.get('/')).body).to.equal('fine');
    expect(origin.connections.length).to.equal(2);
    client.destroy();
  });

  it('B-11 an idempotent request is sent once more when a kept connection dies before the first byte', async () => {
    const origin = await start((connection) => {
      connection.onRequest((_head, index) => {
        if (index === 1) connection.send(ok(`from ${String(connection.index)}`));
        else connection.socket.destroy();
      });
    });
    lab.route('/', [origin.port]);
    const client = await lab.client();
    expect((await client.get('/')).body).to.equal('from 1');
    expect((await client.get('/')).body).to.equal('from 2');
    client.send('PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nbody');
    expect((await client.response()).body).to.equal('from 3');
    expect(origin.connections[2]!.received).to.match(/body$/);
    client.send('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nbody');
    expect((await client.response()).status).to.equal(503);
    expect(origin.connections.length).to.equal(3);
    client.destroy();
  });

  it('B-11 closes idle connections before the backend does', async () => {
    const origin = await answering(() => ok('x', 'Keep-Alive: timeout=1\r\n'));
    lab.route('/', [origin.port]);
    const client = await lab.client();
    await client.get('/');
    await until(
      () => origin.connections[0]!.closed || lab.counters[counter.UPSTREAM_CONNECTIONS_ACTIVE] === 0,
    );
    expect(lab.counters[counter.UPSTREAM_CONNECTIONS_ACTIVE]).to.equal(0);
    client.destroy();
  });

  it('connection refused is 503, and another endpoint is tried first', async () => {
    const dead = DEAD_PORT;
    lab.route('/dead', [dead]);
    const origin = await answering(() => ok('alive'));
    lab.route('/half', [dead, origin.port]);
    const client = await lab.client();
    expect((await client.get('/dead')).status).to.equal(503);
    for (let i = 0; i < 4; i++) expect((await client.get('/half')).body).to.equal('alive');
    client.destroy();
  });

  it('B-01 refusals take their share', async () => {
    const origin = await answering(() => ok('alive'));
    lab.route('/a', [origin.port]);
    const good = lab.backend('Service/test//a/80', { weight: 3 });
    const ghost = lab.backend('', { upstream: undefined, refusal: { status: 500, reason: 'ghost' } });
    lab.rule('/share', { backends: new WeightedBackends([good, ghost]) });
    const client = await lab.client();
    const statuses: number[] = [];
    for (let i = 0; i < 8; i++) statuses.push((await client.get('/share')).status);
    expect(statuses.filter((status) => status === 500).length).to.equal(2);
    client.destroy();
  });

  describe('B-10 retries', () => {
    const retry = { attempts: 2, codes: [500, 503], backoffMs: 5 };

    it('asks attempts + 1 times at most and passes the last answer on', async () => {
      const origin = await answering(() => 'HTTP/1.1 503 No\r\nContent-Length: 2\r\n\r\nno');
      lab.route('/', [origin.port], { retry });
      const client = await lab.client();
      const response = await client.get('/');
      expect(response.status).to.equal(503);
      expect(response.body).to.equal('no');
      expect(origin.requests).to.equal(3);
      expect(lab.records[0]?.attempts).to.equal(3);
      client.destroy();
    });

    it('attempts 0 is none', async () => {
      const origin = await answering(() => 'HTTP/1.1 503 No\r\nContent-Length: 2\r\n\r\nno');
      lab.route('/', [origin.port], { retry: { ...retry, attempts: 0 } });
      const client = await lab.client();
      expect((await client.get('/')).status).to.equal(503);
      expect(origin.requests).to.equal(1);
      client.destroy();
    });

    it('sends the body again', async () => {
      let asked = 0;
      const origin = await start((connection) => {
        connection.socket.on('data', () => {
          if (!connection.received.endsWith('world')) return;
          connection.send(++asked === 1 ? 'HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n' : ok('yes'));
          connection.received = '';
        });
      });
      lab.route('/', [origin.port], { retry });
      const client = await lab.client();
      client.send('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nhello');
      await until(() => origin.received.endsWith('hello'));
      client.send('world');
      expect((await client.response()).body).to.equal('yes');
      expect(asked).to.equal(2);
      client.destroy();
    });

    it('does not repeat what is too large to keep', async () => {
      const origin = await start((connection) => {
        connection.socket.on('data', () => {
          if (connection.received.endsWith('END'))
            connection.send('HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n');
        });
      });
      lab.route('/', [origin.port], { retry });
      const client = await lab.client();
      const body = 'x'.repeat(200_000) + 'END';
      client.send(`POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${String(body.length)}\r\n\r\n${body}`);
      expect((await client.response()).status).to.equal(500);
      expect(origin.connections.length).to.equal(1);
      client.destroy();
    });

    it('retries connection errors and says 503 when none is left', async () => {
      lab.route('/', [DEAD_PORT], { retry });
      const client = await lab.client();
      expect((await client.get('/')).status).to.equal(503);
      expect(lab.records[0]?.attempts).to.equal(3);
      client.destroy();
    });

    it('the time of an attempt counts for each, the time of the request for all', async () => {
      const origin = await start((connection) => {
        connection.onRequest((_head, index) => {
          if (connection.index === 3 && index === 1) connection.send(ok('third time'));
        });
      });
      lab.route('/each', [origin.port], { retry, backendRequestMs: 60 });
      lab.route('/all', [origin.port], { retry, backendRequestMs: 60, requestMs: 90 });
      const client = await lab.client();
      expect((await client.get('/each')).body).to.equal('third time');
      expect((await client.get('/all')).status).to.equal(504);
      expect(lab.records[1]?.attempts).to.equal(2);
      client.destroy();
    });
  });

  it('B-09 a silent backend is 504 in time, and the request to it is aborted', async () => {
    const origin = await start((connection) => {
      connection.onRequest(() => undefined);
    });
    lab.route('/request', [origin.port], { requestMs: 50 });
    lab.route('/backend', [origin.port], { backendRequestMs: 50 });
    lab.route('/head', [origin.port], { awaitHeadMs: 50 });
    const client = await lab.client();
    for (const path of ['/request', '/backend', '/head']) {
      const started = performance.now();
      expect((await client.get(path)).status).to.equal(504);
      expect(performance.now() - started).to.be.within(49, 500);
    }
    await until(() => origin.connections.every(({ closed }) => closed));
    client.destroy();
  });

  it('a time that is over within the response aborts it', async () => {
    const origin = await answering(() => 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\npart');
    lab.route('/', [origin.port], { requestMs: 60 });
    const client = await lab.client();
    client.send(GET);
    await client.closed();
    expect(client.text).to.match(/part$/);
    expect(lab.records[0]?.termination).to.equal('timeout');
  });

  it('a client that leaves takes its request along', async () => {
    const origin = await start((connection) => {
      connection.onRequest(() => undefined);
    });
    lab.route('/', [origin.port]);
    for (const leave of ['destroy', 'end'] as const) {
      const client = await lab.client();
      client.send(GET);
      await until(() => origin.connections.some(({ requests, closed }) => requests === 1 && !closed));
      client.socket[leave]();
      await until(() => origin.connections.every(({ closed }) => closed));
      client.destroy();
    }
    expect(lab.records.map(({ termination, status }) => [termination, status])).to.deep.equal([
      ['client', 0],
      ['client', 0],
    ]);
  });

  it('interim responses: 103 is passed on, 100 is not', async () => {
    const origin = await answering(
      () =>
        'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\n\r\n' +
        ok('final'),
    );
    lab.route('/', [origin.port]);
    const client = await lab.client();
    client.send(GET);
    const hints = await client.response();
    expect(hints.status).to.equal(103);
    expect(hints.field('link')).to.equal('</a.css>; rel=preload');
    expect((await client.response()).body).to.equal('final');
    client.destroy();
  });

  it('a head that comes in pieces is the same head', async () => {
    const answer =
      'HTTP/1.1 103 Early Hints\r\nA: b\r\n\r\n' + ok('body', 'X-Long: ' + 'y'.repeat(3000) + '\r\n');
    const origin = await start((connection) => {
      connection.onRequest(() => {
        void (async () => {
          for (let i = 0; i < answer.length; i += 401) {
            connection.send(answer.slice(i, i + 401));
            await new Promise((resolve) => setImmediate(resolve));
          }
        })();
      });
    });
    lab.route('/', [origin.port]);
    const client = await lab.client();
    client.send(GET);
    expect((await client.response()).status).to.equal(103);
    const response = await client.response();
    expect(response.field('x-long')?.length).to.equal(3000);
    expect(response.body).to.equal('body');
    client.destroy();
  });

  it('endpoints change without touching what is in flight', async () => {
    const first = await start((connection) => {
      connection.onRequest(() => undefined);
    });
    const second = await answering(() => ok('second'));
    lab.route('/', [first.port]);
    const client = await lab.client();
    client.send(GET);
    await until(() => first.requests === 1);
    lab.route('/', [second.port]);
    const other = await lab.client();
    expect((await other.get('/')).body).to.equal('second');
    first.connections[0]!.send(ok('first'));
    expect((await client.response()).body).to.equal('first');
    await until(() => first.connections[0]!.closed);
    client.destroy();
    other.destroy();
  });
});
