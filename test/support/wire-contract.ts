import { once } from 'node:events';
import { connect as netConnect, type Socket } from 'node:net';
import { expect } from 'chai';
import { FAILED, PENDING, WRITTEN, type FaultReport, type Wire } from '../../src/engine/wire/wire.js';
import { pattern, WireBench, type Probe } from './wire-probe.js';

const MEGABYTE = 1024 * 1024;

/** What every wire must do with the bytes of a TCP connection. */
export function wireContract(name: string, create: (report: FaultReport) => Wire): void {
  describe(`${name} wire`, () => {
    let bench: WireBench;
    const sockets: Socket[] = [];

    beforeEach(() => {
      bench = new WireBench(create);
    });

    afterEach(async () => {
      for (const socket of sockets.splice(0)) socket.destroy();
      await bench.close();
    });

    /** Two ends of one connection, both reading. */
    async function pair(bufferLength = 64 * 1024): Promise<{ client: Probe; server: Probe }> {
      const { acceptor, next } = await bench.serve((probe, connection) => {
        probe.attach(connection, Buffer.alloc(bufferLength));
      });
      const client = bench.connect(acceptor.port, Buffer.alloc(bufferLength));
      const server = await next();
      await client.until(() => client.connected, 'connect');
      return { client, server };
    }

    /** A peer that is not the wire under test. */
    async function plainPeer(port: number): Promise<Socket> {
      const socket = netConnect({ host: '127.0.0.1', port, allowHalfOpen: true });
      socket.on('error', () => undefined);
      sockets.push(socket);
      await once(socket, 'connect');
      return socket;
    }

    it('has its name', () => {
      expect(bench.wire.name).to.equal(name);
    });

    it('carries bytes both ways and knows its addresses', async () => {
      const { client, server } = await pair();
      expect(client.connection.write(Buffer.from('ping'))).to.equal(WRITTEN);
      await server.until(() => server.text === 'ping', 'ping');
      server.connection.write(Buffer.from('pong'));
      await client.until(() => client.text === 'pong', 'pong');

      expect(client.connection.remoteAddress).to.equal('127.0.0.1');
      expect(server.connection.remoteAddress).to.equal('127.0.0.1');
      expect(server.connection.remotePort).to.equal(client.connection.localPort);
      expect(server.connection.localPort).to.equal(client.connection.remotePort);
      expect(client.connection.localAddress).to.equal('127.0.0.1');
      expect(client.connection.alpn).to.equal('');
      expect(client.connection.peerCertificate()).to.equal(undefined);
      expect(client.connection.tlsSession()).to.equal(undefined);
    });

    it('carries a megabyte both ways at once through tiny buffers', async () => {
      const { client, server } = await pair(1_021);
      const up = pattern(MEGABYTE, 1);
      const down = pattern(MEGABYTE, 2);
      await Promise.all([client.send(up, 50_000), server.send(down, 30_000)]);
      await server.until(() => server.bytesReceived === MEGABYTE, 'all bytes');
      await client.until(() => client.bytesReceived === MEGABYTE, 'all bytes');
      expect(server.received.equals(up)).to.equal(true);
      expect(client.received.equals(down)).to.equal(true);
    });

    it('says PENDING to a slow reader, keeps order, and drains', async () => {
      const { acceptor, next } = await bench.serve(() => undefined);
      const client = bench.connect(acceptor.port, undefined);
      const server = await next();
      await client.until(() => client.connected, 'connect');

      const sent: Buffer[] = [];
      let outcome: number = WRITTEN;
      while (outcome === WRITTEN && sent.length < 1_000) {
        const bytes = pattern(64 * 1024, sent.length);
        sent.push(bytes);
        outcome = client.connection.write(bytes);
      }
      expect(outcome).to.equal(PENDING);
      sent.push(pattern(100, 77));
      expect(client.connection.write(sent.at(-1)!)).to.equal(PENDING);
      expect(client.drains).to.equal(0);

      server.attach(server.connection, Buffer.alloc(64 * 1024));
      await client.until(() => client.drains > 0, 'drain');
      const all = Buffer.concat(sent);
      await server.until(() => server.bytesReceived === all.length, 'all bytes');
      expect(server.received.equals(all)).to.equal(true);
      expect(client.drains).to.equal(1);
      expect(client.connection.write(Buffer.from('x'))).to.equal(WRITTEN);
    });

    it('writes two buffers as one', async () => {
      const { client, server } = await pair();
      expect(client.connection.write(Buffer.from('head '), Buffer.from('body'))).to.equal(WRITTEN);
      await server.until(() => server.text === 'head body', 'both');
      expect(client.drains).to.equal(0);

      const large = pattern(8 * MEGABYTE);
      expect(client.connection.write(Buffer.from('head '), large)).to.equal(PENDING);
      expect(client.connection.write(Buffer.from(' tail'), Buffer.from(' end'))).to.equal(PENDING);
      await client.until(() => client.drains > 0, 'drain');
      const all = Buffer.concat([Buffer.from('head bodyhead '), large, Buffer.from(' tail end')]);
      await server.until(() => server.bytesReceived === all.length, 'all bytes');
      expect(server.received.equals(all)).to.equal(true);
      expect(client.drains).to.equal(1);
    });

    it('delivers nothing while paused and everything after', async () => {
      const { acceptor, next } = await bench.serve((probe, connection) => {
        probe.attach(connection, Buffer.alloc(1_000));
      });
      const peer = await plainPeer(acceptor.port);
      const server = await next();
      server.on.read = () => {
        server.connection.pause();
      };
      const sent = pattern(50_000);
      peer.write(sent);
      await server.until(() => server.bytesReceived > 0, 'first bytes');
      // A second connection's round trip shows that the loop has turned without another read.
      const other = await plainPeer(acceptor.port);
      other.write('x');
      const probe = await next();
      await probe.until(() => probe.bytesReceived === 1, 'the other read');
      expect(server.events.filter((event) => event === 'read')).to.have.length(1);

      server.on.read = () => {
        server.connection.pause();
        server.connection.resume();
      };
      server.connection.resume();
      await server.until(() => server.bytesReceived === sent.length, 'the rest');
      expect(server.received.equals(sent)).to.equal(true);
    });

    it('switches buffers within and outside of a read', async () => {
      const { client, server } = await pair();
      const buffers = [Buffer.alloc(10), Buffer.alloc(20), Buffer.alloc(30)];
      const seen: number[] = [];
      const onRead = server.onRead.bind(server);
      server.onRead = (buffer, length) => {
        seen.push(buffer.length);
        onRead(buffer, length);
        const next = buffers.shift();
        if (next) server.connection.readInto(next);
      };
      for (const [index, text] of ['a', 'b', 'c', 'd'].entries()) {
        client.connection.write(Buffer.from(text));
        await server.until(() => server.bytesReceived === index + 1, text);
      }
      server.connection.readInto(Buffer.alloc(40));
      client.connection.write(Buffer.from('e'));
      await server.until(() => server.bytesReceived === 5, 'e');
      expect(server.text).to.equal('abcde');
      expect(seen).to.deep.equal([65_536, 10, 20, 30, 40]);
    });

    it('half-closes: the client ends first, the server answers on', async () => {
      const { client, server } = await pair();
      client.connection.write(Buffer.from('request'));
      client.connection.end();
      await server.until(() => server.ended, 'end');
      expect(server.text).to.equal('request');
      expect(server.closes).to.equal(0);
      expect(client.connection.write(Buffer.from('late'))).to.equal(FAILED);

      const answer = pattern(300_000);
      await server.send(answer, 40_000);
      server.connection.end();
      expect(await client.untilClosed()).to.equal(undefined);
      expect(await server.untilClosed()).to.equal(undefined);
      expect(client.received.equals(answer)).to.equal(true);
      expect(client.events.slice(-2)).to.deep.equal(['end', 'close']);
      expect([client.closes, server.closes]).to.deep.equal([1, 1]);
    });

    it('half-closes: the server ends first, the client sends on', async () => {
      const { client, server } = await pair();
      server.connection.end();
      await client.until(() => client.ended, 'end');
      await client.send(pattern(200_000), 50_000);
      client.connection.end();
      await server.untilClosed();
      expect(server.bytesReceived).to.equal(200_000);
    });

    it('sends what is pending before FIN', async () => {
      const { acceptor, next } = await bench.serve(() => undefined);
      const client = bench.connect(acceptor.port, undefined);
      const server = await next();
      await client.until(() => client.connected, 'connect');
      const bytes = pattern(8 * MEGABYTE);
      expect(client.connection.write(bytes)).to.equal(PENDING);
      client.connection.end();
      server.attach(server.connection, Buffer.alloc(64 * 1024));
      await server.until(() => server.ended, 'end');
      expect(server.received.equals(bytes)).to.equal(true);
    });

    it('closes without waiting for the peer, after what is pending', async () => {
      const { acceptor, next } = await bench.serve(() => undefined);
      for (const bytes of [pattern(100), pattern(8 * MEGABYTE)]) {
        const client = bench.connect(acceptor.port, undefined);
        const server = await next();
        await client.until(() => client.connected, 'connect');
        const outcome = server.connection.write(bytes);
        expect(outcome).to.equal(bytes.length > MEGABYTE ? PENDING : WRITTEN);
        server.connection.close();
        server.connection.close();
        expect(server.connection.write(bytes)).to.equal(FAILED);
        expect(server.closes).to.equal(0);
        client.attach(client.connection, Buffer.alloc(64 * 1024));
        expect(await server.untilClosed()).to.equal(undefined);
        await client.until(() => client.ended, 'end');
        expect(client.received.equals(bytes)).to.equal(true);
        expect(client.closes).to.equal(0);
        expect(server.events).to.not.include('end');
        expect(server.connection.localPort).to.be.a('number');
      }
    });

    it('closes after it has ended', async () => {
      const { client, server } = await pair();
      server.connection.end();
      await client.until(() => client.ended, 'end');
      server.connection.close();
      expect(await server.untilClosed()).to.equal(undefined);
      expect(client.closes).to.equal(0);
    });

    it('knows where a connection was accepted on a socket for every address', async () => {
      for (const address of ['0.0.0.0', '127.0.0.1']) {
        const { acceptor, next } = await bench.serve(() => undefined, { address });
        const client = bench.connect(acceptor.port, undefined, { address: '127.0.0.2' });
        if (address === '127.0.0.1') {
          expect((await client.untilClosed())?.code).to.equal('ECONNREFUSED');
          continue;
        }
        const { connection } = await next();
        expect([connection.localAddress, connection.localPort]).to.deep.equal(['127.0.0.2', acceptor.port]);
      }
    });

    it('queues what is written before the connection is there', async () => {
      const { acceptor, next } = await bench.serve((probe, connection) => {
        probe.attach(connection, Buffer.alloc(100));
      });
      const client = bench.connect(acceptor.port, undefined);
      expect(client.connection.write(Buffer.from('early '))).to.equal(PENDING);
      client.connection.write(Buffer.from('bi'), Buffer.from('rd'));
      client.connection.end();
      const server = await next();
      await server.until(() => server.ended, 'end');
      expect(server.text).to.equal('early bird');
      await client.until(() => client.drains === 1, 'drain');
    });

    it('tells a reset as ECONNRESET', async () => {
      const { client, server } = await pair();
      client.connection.reset();
      expect((await server.untilClosed())?.code).to.equal('ECONNRESET');
      expect(await client.untilClosed()).to.equal(undefined);
      expect(server.ended).to.equal(false);
    });

    it('destroys in the middle of pending writes', async () => {
      const { acceptor, next } = await bench.serve(() => undefined);
      const client = bench.connect(acceptor.port, undefined);
      await next();
      await client.until(() => client.connected, 'connect');
      expect(client.connection.write(pattern(8 * MEGABYTE))).to.equal(PENDING);
      client.connection.destroy();
      client.connection.destroy();
      expect(client.closes).to.equal(0);
      expect(await client.untilClosed()).to.equal(undefined);
      expect(client.connection.write(Buffer.from('x'))).to.equal(FAILED);
      client.connection.end();
      client.connection.reset();
      client.connection.resume();
      client.connection.pause();
      client.connection.readInto(Buffer.alloc(10));
      expect(client.connection.localPort).to.be.a('number');
      expect(client.events).to.deep.equal(['connect', 'close']);
    });

    it('fails writes to a peer that is gone, and closes once', async () => {
      const { client, server } = await pair();
      server.connection.reset();
      await server.untilClosed();
      client.connection.pause();
      let outcome: number = WRITTEN;
      for (let count = 0; count < 50 && outcome !== FAILED; count++) {
        outcome = client.connection.write(pattern(1_000));
        await new Promise((resolve) => setImmediate(resolve));
      }
      expect(outcome).to.equal(FAILED);
      expect((await client.untilClosed())?.code).to.be.oneOf(['EPIPE', 'ECONNRESET']);
      expect(client.closes).to.equal(1);
    });

    for (const event of ['read', 'end'] as const) {
      it(`may be destroyed within ${event}`, async () => {
        const { client, server } = await pair(100);
        server.on[event] = () => {
          server.connection.destroy();
        };
        client.connection.write(pattern(1_000));
        client.connection.end();
        await server.untilClosed();
        expect(server.events.at(-1)).to.equal('close');
        expect(server.events.filter((name) => name === event)).to.have.length(1);
      });
    }

    it('may be destroyed within connect, drain and close', async () => {
      const { acceptor } = await bench.serve((probe, connection) => {
        probe.attach(connection, Buffer.alloc(65_536));
      });
      const first = bench.connect(acceptor.port, Buffer.alloc(100));
      first.on.connect = () => {
        first.connection.destroy();
      };
      first.on.close = () => {
        first.connection.destroy();
      };
      await first.untilClosed();
      expect(first.events).to.deep.equal(['connect', 'close']);

      const second = bench.connect(acceptor.port, Buffer.alloc(100));
      second.on.connect = () => {
        second.connection.write(pattern(8 * MEGABYTE));
      };
      second.on.drain = () => {
        second.connection.destroy();
      };
      await second.untilClosed();
      expect(second.events).to.deep.equal(['connect', 'drain', 'close']);
    });

    it('destroys a connection before it is made', async () => {
      const { acceptor } = await bench.serve(() => undefined);
      const client = bench.connect(acceptor.port, Buffer.alloc(10));
      client.connection.destroy();
      expect(await client.untilClosed()).to.equal(undefined);
      expect(client.connected).to.equal(false);
    });

    it('serves 200 connections at once, each with its own bytes', async () => {
      const shared = Buffer.alloc(64 * 1024);
      const { acceptor } = await bench.serve((probe, connection) => {
        probe.attach(connection, shared);
        probe.on.read = () => {
          connection.write(probe.chunks.at(-1)!);
        };
        probe.on.end = () => {
          connection.end();
        };
      });
      const clients = Array.from({ length: 200 }, () => bench.connect(acceptor.port, Buffer.alloc(4_096)));
      await Promise.all(
        clients.map(async (client, index) => {
          await client.until(() => client.connected, 'connect');
          const sent = pattern(5_000, index);
          await client.send(sent, 1_000);
          client.connection.end();
          await client.untilClosed();
          expect(client.received.equals(sent)).to.equal(true);
        }),
      );
    });

    it('survives a handler that throws: the connection goes, the fault is reported', async () => {
      const { client, server } = await pair();
      server.on.read = () => {
        throw new Error('bug');
      };
      client.connection.write(Buffer.from('x'));
      expect((await server.untilClosed())?.code).to.equal('ERR_HANDLER_FAULT');
      await client.until(() => client.ended || client.closes > 0, 'end');
      expect(bench.faults.map(({ code }) => code)).to.deep.equal(['ERR_HANDLER_FAULT']);

      const acceptor = await bench.listen(() => {
        throw new Error('bug');
      });
      const refused = bench.connect(acceptor.port, Buffer.alloc(10));
      await refused.until(() => refused.ended || refused.closes > 0, 'end');
      expect(bench.faults).to.have.length(2);

      const last = await pair();
      last.server.on.close = () => {
        throw new Error('bug');
      };
      last.server.connection.destroy();
      await last.client.until(() => last.client.ended, 'end');
      await last.server.untilClosed().catch(() => undefined);
      expect(bench.faults).to.have.length(3);
    });
  });
}
