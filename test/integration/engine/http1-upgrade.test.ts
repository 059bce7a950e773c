import { expect } from 'chai';
import * as counter from '../../../src/telemetry/engine-counters.js';
import { labSuite } from '../../support/engine/lab-suite.js';
import { ok, type OriginScript } from '../../support/engine/raw-origin.js';
import { until } from '../../support/until.js';

labSuite('HTTP/1.1 upgrades', ({ start, startLab }) => {
  describe('upgrades', () => {
    const UPGRADE =
      'GET /ws HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: k\r\n\r\n';
    const SWITCH =
      'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: s\r\n\r\n';

    async function tunnel(script: OriginScript, options: Parameters<typeof startLab>[0] = {}) {
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
