import { expect } from 'chai';
import * as counter from '../../../src/telemetry/engine-counters.js';
import type { LabOptions } from '../../support/engine/http1-lab.js';
import { labSuite } from '../../support/engine/lab-suite.js';
import type { OriginConnection } from '../../support/engine/raw-origin.js';
import { until } from '../../support/until.js';

const UPGRADE =
  'GET /ws HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: k\r\n\r\n';
const SWITCH =
  'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: s\r\n\r\n';
const LARGE = 3_000_000;

/** Bytes of which every run is recognised. */
function pattern(length: number, seed: number): Buffer {
  const bytes = Buffer.alloc(length);
  for (let i = 0; i < length; i++) bytes[i] = (i * 31 + (i >> 8) * seed) & 0xff;
  return bytes;
}

labSuite('HTTP/1.1 tunnels', ({ start, startLab }) => {
  /** A tunnel that is open; `early` comes in one write with the 101. */
  async function openTunnel(options: Omit<LabOptions, 'wire'> = {}, early = '') {
    const lab = await startLab(options);
    const origin = await start((connection) => {
      connection.onRequest(() => {
        connection.send(SWITCH + early);
      });
    });
    lab.route('/', [origin.port]);
    const client = await lab.client();
    client.send(UPGRADE);
    await client.response();
    return { lab, client, backend: origin.connections[0]! };
  }

  /** What the backend has received behind the head. */
  function tunnelled(backend: OriginConnection): string {
    return backend.received.slice(backend.received.indexOf('\r\n\r\n') + 4);
  }

  async function isEmpty(lab: Awaited<ReturnType<typeof startLab>>): Promise<void> {
    await until(() => lab.counters[counter.DOWNSTREAM_CONNECTIONS_ACTIVE] === 0);
    await until(() => lab.counters[counter.UPSTREAM_CONNECTIONS_ACTIVE] === 0);
    expect(lab.counters[counter.TUNNELS_ACTIVE]).to.equal(0);
    expect(lab.counters[counter.DOWNSTREAM_REQUESTS_ACTIVE]).to.equal(0);
  }

  it('counts every byte of both directions', async () => {
    const { lab, client, backend } = await openTunnel({}, 'early');
    await client.until(() => client.text === 'early');
    for (let i = 1; i <= 5; i++) {
      client.send('ping!');
      await until(() => tunnelled(backend).length === i * 5);
      backend.send('pong');
      await client.until(() => client.text.length === 5 + i * 4);
    }
    client.socket.end();
    await until(() => backend.closed);
    backend.send('last');
    backend.socket.end();
    await client.closed();
    expect(client.text).to.equal(`early${'pong'.repeat(5)}last`);
    await isEmpty(lab);
    expect(lab.records).to.deep.equal([
      {
        path: '/ws',
        status: 101,
        termination: 'complete',
        detail: '',
        attempts: 1,
        requestBytes: 25,
        responseBytes: 29,
      },
    ]);
  });

  it('the backend ends first: what the client says goes on', async () => {
    const { lab, client, backend } = await openTunnel();
    backend.socket.end('bye');
    await client.closed();
    expect(client.text).to.equal('bye');
    client.send('still here');
    await until(() => tunnelled(backend) === 'still here');
    client.socket.end();
    await isEmpty(lab);
    expect(lab.records[0]).to.include({ termination: 'complete', requestBytes: 10, responseBytes: 3 });
  });

  it('a client that does not read stops the backend, and the other direction goes on', async () => {
    const { lab, client, backend } = await openTunnel();
    client.socket.pause();
    // More than all buffers of the system hold.
    const sent = pattern(8 * LARGE, 7);
    backend.socket.write(sent);
    await until(() => backend.socket.bytesWritten > 0 && backend.socket.writableLength > 0);
    const stalled = async (): Promise<boolean> => {
      const before = backend.socket.writableLength;
      await new Promise((resolve) => setTimeout(resolve, 50));
      return before === backend.socket.writableLength;
    };
    while (!(await stalled()));
    expect(backend.socket.writableLength).to.be.greaterThan(0);
    client.send('up');
    await until(() => tunnelled(backend) === 'up');
    client.socket.resume();
    await client.until(() => client.received.length === sent.length);
    expect(client.received.equals(sent)).to.equal(true);
    client.send('again');
    await until(() => tunnelled(backend) === 'upagain');
    client.socket.resetAndDestroy();
    await isEmpty(lab);
    expect(lab.records[0]).to.include({ requestBytes: 7, responseBytes: sent.length });
  }).timeout(20_000);

  it('a backend that does not read stops the client', async () => {
    const { lab, client, backend } = await openTunnel();
    backend.socket.pause();
    const sent = pattern(8 * LARGE, 11);
    client.send(sent);
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(client.socket.writableLength).to.be.greaterThan(0);
    backend.send('down');
    await client.until(() => client.text === 'down');
    let received = 0;
    const parts: Buffer[] = [];
    backend.socket.removeAllListeners('data').on('data', (bytes: Buffer) => {
      received += bytes.length;
      parts.push(bytes);
    });
    backend.socket.resume();
    await until(() => received === sent.length);
    expect(Buffer.concat(parts).equals(sent)).to.equal(true);
    client.socket.resetAndDestroy();
    await isEmpty(lab);
    expect(lab.records[0]).to.include({ requestBytes: sent.length, responseBytes: 4 });
  }).timeout(20_000);

  it('much that comes with the 101 is in front of what follows', async () => {
    const early = pattern(LARGE, 3).toString('latin1');
    const { lab, client, backend } = await openTunnel({}, early);
    client.send('hello');
    await until(() => tunnelled(backend) === 'hello');
    backend.send('!');
    await client.until(() => client.received.length === LARGE + 1);
    expect(client.text === `${early}!`).to.equal(true);
    client.socket.resetAndDestroy();
    await isEmpty(lab);
    expect(lab.records[0]).to.include({ requestBytes: 5, responseBytes: LARGE + 1 });
  });

  it('is cut when the client takes nothing for too long', async () => {
    const { lab, client, backend } = await openTunnel({ timeouts: { writeMs: 100 } });
    client.socket.pause();
    backend.socket.write(pattern(8 * LARGE, 5));
    await until(() => backend.closed);
    await isEmpty(lab);
    expect(lab.records[0]).to.include({ termination: 'client', detail: 'the client does not read' });
    client.destroy();
  }).timeout(20_000);

  it('goes on while the server drains, and ends with it', async () => {
    const { lab, client, backend } = await openTunnel();
    lab.server.drain();
    client.send('one');
    await until(() => tunnelled(backend) === 'one');
    backend.send('two');
    await client.until(() => client.text === 'two');
    lab.server.close();
    await client.closed();
    await until(() => backend.closed);
    await isEmpty(lab);
  });

  it('a backend that breaks off is seen by the client', async () => {
    const { lab, client, backend } = await openTunnel();
    backend.send('x');
    await client.until(() => client.text === 'x');
    backend.socket.resetAndDestroy();
    await client.closed();
    await isEmpty(lab);
    expect(lab.records[0]).to.include({ termination: 'upstream', responseBytes: 1 });
  });
});
