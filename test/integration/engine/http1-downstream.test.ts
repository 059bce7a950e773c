import { expect } from 'chai';
import { PlainResponseHead } from '../../../src/engine/exchange/heads.js';
import { FieldList } from '../../../src/engine/exchange/fields.js';
import {
  ANSWERED,
  CONTINUE,
  SUSPENDED,
  type RequestStep,
  type ResponseStep,
} from '../../../src/engine/exchange/route-entry.js';
import * as counter from '../../../src/engine/exchange/counters.js';
import { Http1Lab, WIRES, type LabOptions } from '../../support/engine/http1-lab.js';
import { ok, RawOrigin, type OriginScript } from '../../support/engine/raw-origin.js';
import { until } from '../../support/until.js';

for (const { name, make } of WIRES) {
  describe(`HTTP/1.1 clients over the ${name} wire`, () => {
    const labs: Http1Lab[] = [];
    const origins: RawOrigin[] = [];
    const faults: unknown[] = [];

    afterEach(async () => {
      for (const lab of labs.splice(0)) await lab.stop();
      for (const origin of origins.splice(0)) await origin.stop();
      expect(faults.splice(0)).to.deep.equal([]);
    });

    async function startLab(options: Omit<LabOptions, 'wire'> = {}): Promise<Http1Lab> {
      const lab = await Http1Lab.start({ ...options, wire: make((fault) => faults.push(fault)) });
      labs.push(lab);
      return lab;
    }

    async function start(script: OriginScript): Promise<RawOrigin> {
      const origin = await RawOrigin.start(script);
      origins.push(origin);
      return origin;
    }

    const answering = (answer: Parameters<typeof RawOrigin.answering>[0]): Promise<RawOrigin> =>
      start((connection) => {
        connection.onRequest((head, index) => {
          connection.send(answer(head, index, connection));
        });
      });

    describe('H-01 ambiguous requests', () => {
      const attacks: readonly (readonly [string, string, number])[] = [
        ['CL and TE', 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /evil HTTP/1.1\r\nHost: a\r\n\r\n', 400],
        ['two CL', 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nContent-Length: 44\r\n\r\nabcdGET /evil HTTP/1.1\r\nHost: a\r\n\r\n', 400],
        ['bare LF', 'GET / HTTP/1.1\nHost: a\n\nGET /evil HTTP/1.1\r\nHost: a\r\n\r\n', 400],
        ['chunk size with a sign', 'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n+4\r\nabcd\r\n0\r\n\r\n', 400],
        ['chunk size of 20 digits', 'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n00000000000000000004\r\nabcd\r\n0\r\n\r\n', 400],
        ['LF in a chunk extension', 'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n4;a\nb\r\nabcd\r\n0\r\n\r\n', 400],
        ['HTTP/2 without a taker', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 505],
        ['TLS on a clear port', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', 400],
      ]; // prettier-ignore
      for (const [title, bytes, status] of attacks) {
        it(`${title}: ${String(status)}, close, and nothing reaches a backend`, async () => {
          const lab = await startLab();
          const origin = await answering(() => ok('fine'));
          lab.route('/', [origin.port]);
          const client = await lab.client();
          client.send(bytes);
          const response = await client.response();
          expect(response.status).to.equal(status);
          expect(response.field('connection')).to.equal('close');
          await client.closed();
          expect(client.text).to.equal('');
          expect(origin.received).to.equal('');
          expect(lab.refused.map((refused) => refused.status)).to.deep.equal([status]);
          const canary = await lab.client();
          expect((await canary.get('/canary')).body).to.equal('fine');
          canary.destroy();
          client.destroy();
        });
      }

      for (const method of ['GET', 'DELETE', 'OPTIONS']) {
        it(`CVE-2026-29057 ${method} with a chunked body is framed for the backend`, async () => {
          const lab = await startLab();
          const origin = await start((connection) => {
            connection.socket.on('data', () => {
              if (connection.received.endsWith('0\r\n\r\n')) connection.send(ok('one'));
            });
          });
          lab.route('/', [origin.port]);
          const client = await lab.client();
          client.send(`${method} / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n`);
          client.send('1f\r\nGET /evil HTTP/1.1\r\nHost: a\r\n\r\n\r\n0\r\n\r\n');
          expect((await client.response()).body).to.equal('one');
          expect(origin.received).to.contain('transfer-encoding: chunked\r\n');
          expect(origin.received).not.to.match(/content-length/i);
          client.destroy();
        });
      }

      it('a chunk that breaks within the body: 400 and the request to the backend is aborted', async () => {
        const lab = await startLab();
        const origin = await start((connection) => {
          connection.onRequest(() => undefined);
        });
        lab.route('/', [origin.port]);
        const client = await lab.client();
        client.send('POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nabcd\r\n');
        await until(() => origin.received.includes('abcd'));
        client.send('zz\r\n');
        expect((await client.response()).status).to.equal(400);
        await until(() => origin.connections[0]!.closed);
        expect(origin.received).not.to.match(/0\r\n\r\n$/);
        await client.closed();
        client.destroy();
      });
    });

    describe('limits', () => {
      it('a head that takes too long is 408', async () => {
        const lab = await startLab({ settings: { readHeaderTimeoutMs: 60 } });
        const slow = await lab.client();
        slow.send('GET / HTTP/1.1\r\nHost: a\r\nX: ');
        expect((await slow.response()).status).to.equal(408);
        await slow.closed();
        expect(lab.counters[counter.DOWNSTREAM_HEAD_TIMEOUTS]).to.equal(1);
        const silent = await lab.client();
        await silent.closed();
        expect(silent.text).to.equal('');
        slow.destroy();
        silent.destroy();
      });

      it('an idle connection is closed', async () => {
        const lab = await startLab({ timeouts: { idleMs: 50 } });
        const client = await lab.client();
        expect((await client.get('/')).status).to.equal(404);
        await client.closed();
        client.destroy();
        await until(() => lab.counters[counter.DOWNSTREAM_CONNECTIONS_ACTIVE] === 0);
      });

      it('a body that stalls is 408', async () => {
        const lab = await startLab({ timeouts: { bodyMs: 50 } });
        const origin = await start((connection) => {
          connection.onRequest(() => undefined);
        });
        lab.route('/', [origin.port]);
        const client = await lab.client();
        client.send('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nabc');
        expect((await client.response()).status).to.equal(408);
        await until(() => origin.connections[0]!.closed);
        client.destroy();
      });

      it('a body over the limit is 413, announced or not', async () => {
        const lab = await startLab({ settings: { maxRequestBodyBytes: 100 } });
        const origin = await start((connection) => {
          connection.onRequest(() => undefined);
        });
        lab.route('/', [origin.port]);
        const client = await lab.client();
        client.send('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 101\r\n\r\n');
        expect((await client.response()).status).to.equal(413);
        const other = await lab.client();
        other.send(
          'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n32\r\n' + 'x'.repeat(50) + '\r\n',
        );
        await until(() => origin.received.includes('xxx'));
        other.send('33\r\n' + 'x'.repeat(51) + '\r\n');
        expect((await other.response()).status).to.equal(413);
        await until(() => origin.connections.every(({ closed }) => closed));
        client.destroy();
        other.destroy();
      });

      it('a head byte by byte is served', async () => {
        const lab = await startLab();
        const origin = await answering((head) => ok(head.split(' ')[1]!));
        lab.route('/', [origin.port]);
        const client = await lab.client();
        for (const byte of `\r\nGET /${'slow'.repeat(20)} HTTP/1.1\r\nHost: a\r\n\r\n`) {
          client.send(byte);
          await new Promise((resolve) => setImmediate(resolve));
        }
        expect((await client.response()).body).to.equal(`/${'slow'.repeat(20)}`);
        client.destroy();
      });

      it('a client that reads slowly holds the backend back', async () => {
        const lab = await startLab();
        let sent = 0;
        const total = 64 * 1024 * 1024;
        const chunk = Buffer.alloc(64 * 1024, 'z');
        const origin = await start(({ socket }) => {
          socket.once('data', () => {
            socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${String(total)}\r\n\r\n`);
            const push = (): void => {
              while (sent < total) {
                sent += chunk.length;
                if (!socket.write(chunk)) {
                  socket.once('drain', push);
                  return;
                }
              }
            };
            push();
          });
        });
        lab.route('/', [origin.port]);
        const client = await lab.client();
        client.socket.pause();
        client.send('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
        let last = -1;
        await until(() => {
          const isStill = sent === last && sent > 0;
          last = sent;
          return isStill;
        }, 100);
        expect(sent).to.be.lessThan(total / 2);
        client.destroy();
        await until(() => origin.connections[0]!.closed || origin.connections[0]!.socket.destroyed);
      });

      it('a client that does not read is given up', async () => {
        const lab = await startLab({ timeouts: { writeMs: 80 } });
        const origin = await answering(() => ok('z'.repeat(32 * 1024 * 1024)));
        lab.route('/', [origin.port]);
        const client = await lab.client();
        client.socket.pause();
        client.send('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
        await until(() => lab.records.length === 1);
        expect(lab.records[0]?.termination).to.equal('client');
        client.destroy();
      });
    });

    describe('Expect: 100-continue', () => {
      const head = 'POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n';

      it('the client is told to continue when a backend takes the body', async () => {
        const lab = await startLab();
        const origin = await start((connection) => {
          connection.socket.on('data', () => {
            if (connection.received.endsWith('body')) connection.send(ok('done'));
          });
        });
        lab.route('/', [origin.port]);
        const client = await lab.client();
        client.send(head);
        expect((await client.response()).status).to.equal(100);
        client.send('body');
        expect((await client.response()).body).to.equal('done');
        expect(origin.received).not.to.match(/expect/i);
        expect((await client.send('GET /x HTTP/1.1\r\nHost: a\r\n\r\n').socket.writableLength) >= 0).to.equal(
          true,
        );
        client.destroy();
      });

      it('an answer without a backend comes instead, and the connection closes', async () => {
        const lab = await startLab();
        const client = await lab.client();
        client.send(head);
        const response = await client.response();
        expect(response.status).to.equal(404);
        expect(response.field('connection')).to.equal('close');
        await client.closed();
        client.destroy();
      });
    });

    it('an early answer: the rest of a small body is dropped and the connection kept', async () => {
      const lab = await startLab();
      const client = await lab.client();
      client.send('POST /nowhere HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n' + 'x'.repeat(400));
      expect((await client.response()).status).to.equal(404);
      client.send('x'.repeat(600));
      expect((await client.get('/nowhere')).status).to.equal(404);
      client.destroy();
    });

    it('an early answer to a large body closes, and the client can read it', async () => {
      const lab = await startLab({ settings: { maxRequestBodyBytes: -1 } });
      const client = await lab.client();
      client.send(`POST /nowhere HTTP/1.1\r\nHost: a\r\nContent-Length: ${String(64 * 1024 * 1024)}\r\n\r\n`);
      client.send(Buffer.alloc(1024 * 1024));
      const response = await client.response();
      expect(response.status).to.equal(404);
      expect(response.field('connection')).to.equal('close');
      client.destroy();
    });

    describe('upgrades', () => {
      const UPGRADE =
        'GET /ws HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: k\r\n\r\n';
      const SWITCH =
        'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: s\r\n\r\n';

      async function tunnel(script: OriginScript, options: Omit<LabOptions, 'wire'> = {}) {
        const lab = await startLab(options);
        const origin = await start(script);
        lab.route('/', [origin.port], { requestMs: 60, backendRequestMs: 60, awaitHeadMs: 60 });
        return { lab, origin, client: await lab.client() };
      }

      it('W-04 keeps early bytes in both directions, and no timeout cuts it', async () => {
        const { lab, origin, client } = await tunnel((connection) => {
          connection.onRequest(() => {
            connection.send(SWITCH + 'early server');
          });
        });
        client.send(UPGRADE + 'early client');
        const response = await client.response();
        expect(response.status).to.equal(101);
        expect(response.field('sec-websocket-accept')).to.equal('s');
        expect(response.field('connection')).to.equal('upgrade');
        expect(response.field('upgrade')).to.equal('websocket');
        await client.until(() => client.text === 'early server');
        await until(() => origin.received.endsWith('\r\n\r\nearly client'));
        expect(origin.received).to.match(/connection: upgrade\r\nupgrade: websocket\r\n/);
        const started = performance.now();
        await until(() => performance.now() - started > 150);
        client.send('late client');
        await until(() => origin.received.endsWith('late client'));
        origin.connections[0]!.send('late server');
        await client.until(() => client.text.endsWith('late server'));
        expect(lab.counters[counter.TUNNELS_ACTIVE]).to.equal(1);
        origin.connections[0]!.socket.end();
        await client.closed();
        client.socket.end('bye');
        await until(() => lab.records.length === 1);
        await until(() => origin.received.endsWith('bye'));
        expect(lab.records[0]).to.include({ status: 101, termination: 'complete' });
        await until(() => lab.counters[counter.DOWNSTREAM_CONNECTIONS_ACTIVE] === 0);
        expect(lab.counters[counter.TUNNELS_ACTIVE]).to.equal(0);
        expect(lab.counters[counter.UPSTREAM_CONNECTIONS_ACTIVE]).to.equal(0);
      });

      it('carries much, both ways at once', async () => {
        const { client, origin } = await tunnel((connection) => {
          connection.onRequest(() => {
            connection.send(SWITCH);
            connection.socket.on('data', (bytes: Buffer) => connection.socket.write(bytes));
          });
        });
        client.send(UPGRADE);
        await client.response();
        const sent = Buffer.alloc(4_000_000);
        for (let i = 0; i < sent.length; i++) sent[i] = (i * 31) & 0xff;
        client.send(sent);
        await client.until(() => client.received.length >= sent.length);
        expect(client.received.equals(sent)).to.equal(true);
        expect(origin.connections.length).to.equal(1);
        client.destroy();
      });

      it('a client that vanishes ends the tunnel at the backend', async () => {
        const { client, origin, lab } = await tunnel((connection) => {
          connection.onRequest(() => {
            connection.send(SWITCH);
          });
        });
        client.send(UPGRADE);
        await client.response();
        client.socket.resetAndDestroy();
        await until(() => origin.connections[0]!.closed);
        expect(lab.records[0]?.termination).to.equal('client');
        expect(lab.counters[counter.TUNNELS_ACTIVE]).to.equal(0);
      });

      it('W-01 an answer other than 101 is an ordinary response', async () => {
        const { client, origin } = await tunnel((connection) => {
          connection.onRequest((head) => {
            connection.send(
              head.includes('/ws') ? 'HTTP/1.1 403 No\r\nContent-Length: 2\r\n\r\nno' : ok('next'),
            );
          });
        });
        client.send(UPGRADE);
        const response = await client.response();
        expect(response.status).to.equal(403);
        expect(response.body).to.equal('no');
        expect((await client.get('/next')).body).to.equal('next');
        expect(origin.connections.length).to.equal(1);
        client.destroy();
      });

      it('W-05 h2c is no upgrade', async () => {
        const { client, origin } = await tunnel((connection) => {
          connection.onRequest(() => {
            connection.send(ok('plain'));
          });
        });
        client.send(
          'GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: x\r\n\r\n',
        );
        expect((await client.response()).body).to.equal('plain');
        expect(origin.received).not.to.match(/upgrade|http2/i);
        client.destroy();
      });
    });

    describe('fields', () => {
      it('H-05 CVE-2024-45410 replaces what an untrusted client says of itself', async () => {
        const lab = await startLab({ forwarded: 'both' });
        const origin = await answering(() => ok('x'));
        lab.route('/', [origin.port]);
        const client = await lab.client();
        await client.get(
          '/',
          'app.test',
          'Connection: X-Forwarded-For, X-Forwarded-Proto, Authorization\r\nX-Forwarded-For: 6.6.6.6\r\n' +
            'X_Forwarded_Host: evil\r\nForwarded: for=6.6.6.6\r\nX-Real-IP: 6.6.6.6\r\nAuthorization: y\r\nVia: 1.0 before\r\n',
        );
        expect(origin.received).not.to.match(/6\.6\.6\.6|evil|authorization/i);
        expect(origin.received).to.contain('x-forwarded-for: 127.0.0.1\r\n');
        expect(origin.received).to.contain('x-forwarded-host: app.test\r\n');
        expect(origin.received).to.contain('forwarded: for=127.0.0.1;host="app.test";proto=http\r\n');
        expect(origin.received).to.contain('Via: 1.0 before\r\n');
        expect(origin.received).to.contain('via: 1.1 trickster-gateway\r\n');
        client.destroy();
      });

      it('continues what a trusted proxy says', async () => {
        const lab = await startLab({ settings: { trustedProxies: ['127.0.0.0/8'] } });
        const origin = await answering(() => ok('x'));
        lab.route('/', [origin.port]);
        const client = await lab.client();
        await client.get('/', 'app.test', 'X-Forwarded-For: 9.9.9.9\r\nX-Forwarded-Proto: https\r\n');
        expect(origin.received).to.contain('x-forwarded-for: 9.9.9.9, 127.0.0.1\r\n');
        expect(origin.received).to.match(/X-Forwarded-Proto: https\r\n/i);
        expect(origin.received).not.to.contain('proto: http\r\n');
        client.destroy();
      });

      it('H-06 hop-by-hop fields of responses stay here', async () => {
        const lab = await startLab();
        const origin = await answering(() =>
          ok(
            'x',
            'Connection: keep-alive, X-Hop\r\nKeep-Alive: timeout=9\r\nX-Hop: 1\r\nProxy-Authenticate: a\r\nTrailer: b\r\nX-Keep: 1\r\n',
          ),
        );
        lab.route('/', [origin.port]);
        const client = await lab.client();
        const { head } = await client.get('/');
        expect(head).to.match(/x-keep/i);
        expect(head).not.to.match(/x-hop|keep-alive|proxy-auth|trailer/i);
        client.destroy();
      });

      it('F-05 a changed authority is the one Host', async () => {
        const lab = await startLab();
        const origin = await answering(() => ok('x'));
        const rename: RequestStep = {
          run: ({ request }) => {
            request.authority = 'x.test';
            request.path = '/new' + request.path;
            request.fields.set('x-added', '1');
            return CONTINUE;
          },
        };
        lab.route('/', [origin.port], { requestSteps: [rename] });
        const client = await lab.client();
        await client.get('/old?q=1');
        expect(origin.received).to.match(/^GET \/new\/old\?q=1 HTTP\/1\.1\r\nhost: x\.test\r\n/);
        expect(origin.received.match(/host:/gi)).to.have.length(2);
        expect(origin.received).to.contain('x-forwarded-host: app.test\r\n');
        expect(origin.received).to.contain('x-added: 1\r\n');
        client.destroy();
      });

      it('M-08 absolute form: a new Host is made', async () => {
        const lab = await startLab();
        const origin = await answering(() => ok('x'));
        lab.route('/', [origin.port]);
        const client = await lab.client();
        client.send('GET http://other.test/a HTTP/1.1\r\nHost: app.test\r\n\r\n');
        await client.response();
        expect(origin.received).to.match(/^GET \/a HTTP\/1\.1\r\nhost: other\.test\r\n/);
        expect(origin.received).not.to.contain('Host: app.test');
        client.destroy();
      });

      for (const [path, forwarded] of [
        ['/a:b', '/a:b'],
        ['/x/..;p=1/admin', '/x/..;p=1/admin'],
        ['/x/..%2fadmin', '/x/..%2fadmin'],
        ['/x/../admin', '/admin'],
        ['/x/%2e%2E/admin', '/admin'],
        ['/%61dmin', '/admin'],
        ['//admin', '//admin'],
        ['/admin;v=1', '/admin;v=1'],
        ['/a/./b/..', '/a/'],
        ['/../../a?x=/../y', '/a?x=/../y'],
      ] as const) {
        it(`M-07 ${path} is matched and forwarded as ${forwarded}`, async () => {
          const lab = await startLab();
          const origin = await answering((head) => ok(head.split(' ')[1]!));
          const admin = await answering(() => ok('admin'));
          lab.route('/', [origin.port]);
          lab.route('/admin', [admin.port]);
          const client = await lab.client();
          const { body } = await client.get(path);
          expect(body).to.equal(forwarded.startsWith('/admin') ? 'admin' : forwarded);
          client.destroy();
        });
      }
    });

    describe('steps', () => {
      it('answer, suspend, and change responses', async () => {
        const lab = await startLab();
        const origin = await answering(() => ok('secret', 'X-Old: 1\r\n'));
        const deny: RequestStep = {
          run: (exchange) => {
            exchange.answer(new PlainResponseHead(302, new FieldList(['location', '/there'])));
            return ANSWERED;
          },
        };
        const wait: RequestStep = {
          run: (exchange) => {
            setImmediate(() => {
              exchange.proceed();
            });
            return SUSPENDED;
          },
        };
        const change: ResponseStep = {
          run: (_exchange, head) => {
            head.fields.remove('x-old');
            head.fields.set('x-new', '2');
            head.fields.set('content-length', '1');
          },
        };
        lab.route('/deny', [origin.port], { requestSteps: [deny] });
        lab.route('/wait', [origin.port], { requestSteps: [wait, wait], responseSteps: [change] });
        const client = await lab.client();
        const redirect = await client.get('/deny');
        expect([redirect.status, redirect.field('location'), redirect.body]).to.deep.equal([
          302,
          '/there',
          '',
        ]);
        const response = await client.get('/wait');
        expect(response.body).to.equal('secret');
        expect(response.field('x-old')).to.equal(undefined);
        expect(response.field('x-new')).to.equal('2');
        expect(response.fields('content-length')).to.deep.equal(['6']);
        client.destroy();
      });

      it('collect the body, and it still reaches the backend', async () => {
        const lab = await startLab();
        const origin = await start((connection) => {
          connection.socket.on('data', () => {
            if (connection.received.endsWith('world')) connection.send(ok('done'));
          });
        });
        const bodies: (string | undefined)[] = [];
        const tapped: string[] = [];
        const look = (limit: number): RequestStep => ({
          run: (exchange) => {
            exchange.tapBody({
              onBody: (piece) => tapped.push(piece.copy().toString() + (piece.last ? '|' : '')),
              onBodyAbort: () => tapped.push('abort'),
            });
            exchange.collectBody(limit, (body) => {
              bodies.push(body?.toString());
              exchange.proceed();
            });
            return SUSPENDED;
          },
        });
        lab.route('/small', [origin.port], { requestSteps: [look(100)] });
        lab.route('/limit', [origin.port], { requestSteps: [look(7)] });
        for (const path of ['/small', '/limit']) {
          const client = await lab.client();
          client.send(`POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nhello`);
          await until(() => tapped.at(-1) === 'hello');
          client.send('world');
          expect((await client.response()).body).to.equal('done');
          client.destroy();
        }
        expect(bodies).to.deep.equal(['helloworld', undefined]);
        expect(tapped).to.deep.equal(['hello', 'world|', 'hello', 'world|']);
        expect(origin.received.match(/helloworld/g)).to.have.length(2);
      });
    });

    describe('drain', () => {
      it('idle connections close, busy ones after a response that says so', async () => {
        const lab = await startLab();
        const origin = await start((connection) => {
          connection.onRequest(() => undefined);
        });
        lab.route('/', [origin.port]);
        const idle = await lab.client();
        await until(() => lab.server.size === 1);
        const busy = await lab.client();
        busy.send('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
        await until(() => origin.requests === 1);
        lab.server.drain();
        await idle.closed();
        origin.connections[0]!.send(ok('last'));
        const response = await busy.response();
        expect(response.body).to.equal('last');
        expect(response.field('connection')).to.equal('close');
        await busy.closed();
        idle.destroy();
        busy.destroy();
        await until(() => lab.server.size === 0);
      });
    });

    it('hands HTTP/2 by prior knowledge over', async () => {
      const taken: string[] = [];
      const lab = await startLab({
        http2: (wire, _context, received) => {
          taken.push(received.toString('latin1'));
          wire.destroy();
        },
      });
      const client = await lab.client();
      client.send('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\nrest');
      await client.closed();
      expect(taken).to.deep.equal(['PRI * HTTP/2.0\r\n\r\nSM\r\n\r\nrest']);
      expect(lab.server.size).to.equal(0);
    });

    it('gRPC requests get gRPC errors', async () => {
      const lab = await startLab();
      const client = await lab.client();
      const { status, head } = await client.get('/none', 'a', 'Content-Type: application/grpc+proto\r\n');
      expect(status).to.equal(200);
      expect(head).to.contain('grpc-status: 12\r\n');
      client.destroy();
    });
  });
}
