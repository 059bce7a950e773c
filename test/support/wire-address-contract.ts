import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { Worker } from 'node:worker_threads';
import { expect } from 'chai';
import type { FaultReport, Wire } from '../../src/engine/wire/wire.js';
import { until } from './until.js';
import { WireBench } from './wire-probe.js';

const DEAF_LISTENER = `
  const { parentPort } = require('node:worker_threads');
  const server = require('node:net').createServer();
  server.listen({ host: '127.0.0.1', port: 0, backlog: 1 }, () => {
    parentPort.postMessage(server.address().port);
    setImmediate(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0));
  });`;

/** What every wire must do to bind, listen and connect. */
export function wireAddressContract(name: string, create: (report: FaultReport) => Wire): void {
  describe(`${name} wire, addresses`, () => {
    let bench: WireBench;

    beforeEach(() => {
      bench = new WireBench(create);
    });

    afterEach(async () => {
      await bench.close();
    });

    it('tells a refused connection', async () => {
      const server = createServer();
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
      const { port } = server.address() as AddressInfo;
      server.close();
      const client = bench.connect(port, Buffer.alloc(10));
      expect((await client.untilClosed())?.code).to.equal('ECONNREFUSED');
      expect(client.events).to.deep.equal(['close']);
    });

    it('tells a connection that is not made in time', async () => {
      // The kernel drops further SYNs once the backlog of a listener that never accepts is full.
      const worker = new Worker(DEAF_LISTENER, { eval: true });
      try {
        const [port] = (await once(worker, 'message')) as [number];
        const clients = Array.from({ length: 6 }, () => bench.connect(port, undefined, { timeoutMs: 100 }));
        const late = clients.at(-1)!;
        expect((await late.untilClosed())?.code).to.equal('ETIMEDOUT');
        expect(late.events).to.deep.equal(['close']);
      } finally {
        await worker.terminate();
      }
    });

    it('tells a name that does not resolve and resolves one that does', async () => {
      const { acceptor } = await bench.serve(() => undefined);
      const client = bench.connect(acceptor.port, undefined, { address: 'localhost' });
      await client.until(() => client.connected || client.closes > 0, 'connect');
      expect(client.error).to.equal(undefined);
      const lost = bench.connect(acceptor.port, undefined, { address: 'no such name' });
      expect((await lost.untilClosed())?.code).to.be.oneOf(['ENOTFOUND', 'EAI_AGAIN']);
    });

    it('listens on IPv6', async () => {
      const { acceptor, next } = await bench.serve(
        (probe, connection) => {
          probe.attach(connection, Buffer.alloc(10));
        },
        { address: '::1' },
      );
      expect(acceptor.address).to.equal('::1');
      const client = bench.connect(acceptor.port, undefined, { address: '::1' });
      await client.until(() => client.connected, 'connect');
      client.connection.write(Buffer.from('six'));
      const server = await next();
      await server.until(() => server.text === 'six', 'six');
      expect(server.connection.remoteAddress).to.equal('::1');
    });

    it('listens on both families with ::', async () => {
      const { acceptor } = await bench.serve(() => undefined, { address: '::' });
      const four = bench.connect(acceptor.port, undefined, { address: '127.0.0.1' });
      const six = bench.connect(acceptor.port, undefined, { address: '::1' });
      await four.until(() => four.connected, 'connect over IPv4');
      await six.until(() => six.connected, 'connect over IPv6');
    });

    it('tells why it cannot listen', async () => {
      const acceptor = await bench.listen(() => undefined);
      const codes: string[] = [];
      const attempts = [
        { address: '127.0.0.1', port: acceptor.port },
        { address: '192.0.2.1', port: 0 },
      ];
      for (const attempt of attempts) {
        await bench
          .listen(() => undefined, attempt)
          .catch((error: unknown) => {
            codes.push((error as NodeJS.ErrnoException).code ?? '');
          });
      }
      expect(codes).to.deep.equal(['EADDRINUSE', 'EADDRNOTAVAIL']);
    });

    it('shares a port when asked to, and frees it', async () => {
      const first = await bench.listen(() => undefined, { reusePort: true });
      const second = await bench.listen(() => undefined, { reusePort: true, port: first.port });
      expect(second.port).to.equal(first.port);
      await Promise.all([first.close(), second.close()]);
      await first.close();
      const third = await bench.listen(() => undefined, { port: first.port });
      expect(third.port).to.equal(first.port);
    });

    it('does not join those that share a port unless asked to', async () => {
      const { port } = await bench.listen(() => undefined, { reusePort: true });
      const [outcome] = await Promise.allSettled([bench.listen(() => undefined, { port })]);
      expect(outcome).to.have.nested.property('reason.code', 'EADDRINUSE');
    });

    it('accepts a burst', async () => {
      let accepted = 0;
      const { acceptor } = await bench.serve(() => {
        accepted++;
      });
      const clients = Array.from({ length: 100 }, () => bench.connect(acceptor.port, undefined));
      await Promise.all(clients.map((client) => client.until(() => client.connected, 'connect')));
      await until(() => accepted === 100);
    });

    it('keeps accepted connections when it stops accepting', async () => {
      const { acceptor, next } = await bench.serve((probe, connection) => {
        probe.attach(connection, Buffer.alloc(100));
      });
      const client = bench.connect(acceptor.port, Buffer.alloc(100));
      const server = await next();
      await client.until(() => client.connected, 'connect');
      await acceptor.close();
      const late = bench.connect(acceptor.port, undefined);
      expect((await late.untilClosed())?.code).to.equal('ECONNREFUSED');
      client.connection.write(Buffer.from('still here'));
      await server.until(() => server.text === 'still here', 'bytes');
    });
  });
}
