import { expect } from 'chai';
import * as counter from '../../../src/telemetry/engine-counters.js';
import { labSuite } from '../../support/engine/lab-suite.js';
import { ok } from '../../support/engine/raw-origin.js';
import { until } from '../../support/until.js';

labSuite('HTTP/1.1 limits', ({ answering, start, startLab }) => {
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
});
