import { expect } from 'chai';
import type { TlsOptions } from 'node:tls';
import { createClientContext } from '../../src/engine/wire/tls/secure-contexts.js';
import {
  PENDING,
  WRITTEN,
  type ClientTlsOptions,
  type FaultReport,
  type Wire,
} from '../../src/engine/wire/wire.js';
import { expired } from './certificates.js';
import { pattern } from './wire-probe.js';
import { authority, clientAuthority, pairOf, TlsBench, trusting } from './wire-tls-bench.js';

const MEGABYTE = 1024 * 1024;

/** What every wire must do as a TLS client, to Node's own server and to itself. */
export function wireTlsClientContract(name: string, create: (report: FaultReport) => Wire): void {
  describe(`${name} wire, TLS client`, () => {
    let bench: TlsBench;

    beforeEach(() => {
      bench = new TlsBench(create);
    });

    afterEach(async () => {
      await bench.close();
    });

    it('sends SNI and ALPN, verifies, and shows whom it talks to', async () => {
      let seen: unknown;
      const port = await bench.nodeServer({ ALPNProtocols: ['h2'] }, (socket) => {
        seen = [Reflect.get(socket, 'servername'), socket.alpnProtocol];
        socket.write('hi');
      });
      const client = bench.secureClient(port, { alpn: ['h2', 'http/1.1'] });
      await client.until(() => client.text === 'hi', 'hi');
      expect(seen).to.deep.equal(['a.test', 'h2']);
      expect(client.events[0]).to.equal('connect');
      expect(client.connection.alpn).to.equal('h2');
      expect(client.connection.peerCertificate()?.subjectAltName).to.equal('DNS:a.test');
      expect(client.connection.tlsSession()?.protocol).to.equal('TLSv1.3');
    });

    it('sends no SNI for an address, which the certificate may have', async () => {
      const own = authority.server(['z.test'], { ipAddresses: ['127.0.0.1'] });
      let seen: unknown;
      const port = await bench.nodeServer({ cert: own.certificate, key: own.privateKey }, (socket) => {
        seen = Reflect.get(socket, 'servername');
        socket.write('hi');
      });
      const client = bench.secureClient(port, { serverName: '127.0.0.1' });
      await client.until(() => client.text === 'hi', 'hi');
      expect(seen).to.equal(false);
    });

    const late = authority.server(['a.test'], expired());
    const refusals: readonly {
      name: string;
      server?: TlsOptions;
      tls?: Partial<ClientTlsOptions>;
      code: RegExp;
    }[] = [
      {
        name: 'another CA',
        tls: { context: createClientContext({ ca: clientAuthority.certificate }) },
        code: /^(UNABLE_TO_|SELF_SIGNED)/,
      },
      {
        name: 'an expired certificate',
        server: { cert: late.certificate, key: late.privateKey },
        code: /^CERT_HAS_EXPIRED$/,
      },
      { name: 'another name', tls: { serverName: 'c.test' }, code: /^ERR_TLS_CERT_ALTNAME_INVALID$/ },
      {
        name: 'what verify refuses',
        tls: { verify: () => 'not you' },
        code: /^ERR_TLS_CERT_ALTNAME_INVALID$/,
      },
    ];
    for (const { name: what, server = {}, tls = {}, code } of refusals) {
      it(`refuses ${what}`, async () => {
        const port = await bench.nodeServer(server, () => undefined);
        const client = bench.secureClient(port, tls);
        expect((await client.untilClosed())?.code).to.match(code);
        expect(client.events).to.deep.equal(['close']);
      });
    }

    it('leaves the name to verify when that is given', async () => {
      const port = await bench.nodeServer({}, (socket) => socket.write('hi'));
      const client = bench.secureClient(port, { serverName: 'c.test', verify: () => undefined });
      await client.until(() => client.text === 'hi', 'hi');
    });

    it('shows its own certificate', async () => {
      const me = clientAuthority.client('me');
      const ca = clientAuthority.certificate;
      const port = await bench.nodeServer({ ca, requestCert: true, rejectUnauthorized: true }, (socket) => {
        socket.write(socket.getPeerCertificate().subject.CN as string);
      });
      const context = createClientContext({ ca: authority.certificate, keyPair: pairOf(me) });
      const client = bench.secureClient(port, { context });
      await client.until(() => client.text === 'me', 'me');
    });

    for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const) {
      it(`resumes sessions of the same key and context only (${maxVersion})`, async () => {
        const port = await bench.nodeServer({ maxVersion }, (socket) =>
          socket.once('data', () => socket.write('hi')),
        );
        const other = createClientContext({ ca: authority.certificate });
        const attempts: Partial<ClientTlsOptions>[] = [
          {},
          {},
          { sessionKey: 'y' },
          { context: other },
          { serverName: 'c.test' },
        ];
        const resumed: (boolean | undefined)[] = [];
        for (const tls of attempts) {
          const client = bench.secureClient(port, tls);
          client.connection.write(Buffer.from('x'));
          await client.until(() => client.text === 'hi' || client.closes > 0, 'hi');
          if (tls.serverName === undefined) expect(client.error?.message).to.equal(undefined);
          resumed.push(client.connection.tlsSession()?.resumed);
          client.connection.destroy();
          await client.untilClosed();
        }
        // The last one is refused although its session is good: names are checked on resumption, too.
        expect(resumed).to.deep.equal([false, true, false, false, undefined]);
      });
    }

    it('tells a server that speaks no TLS, one that is silent and one that hangs up', async () => {
      const { acceptor, next } = await bench.serve(() => undefined);
      const options = { context: trusting, serverName: 'a.test', alpn: [], sessionKey: 'x' };
      const garbage = bench.secureClient(acceptor.port);
      (await next()).connection.write(Buffer.from('220 smtp.test ESMTP\r\n'));
      expect((await garbage.untilClosed())?.code).to.match(/^ERR_SSL_/);

      const silent = bench.connect(acceptor.port, undefined, { tls: options, timeoutMs: 50 });
      expect((await silent.untilClosed())?.code).to.equal('ETIMEDOUT');
      await next();

      const cut = bench.secureClient(acceptor.port);
      (await next()).connection.end();
      expect((await cut.untilClosed())?.code).to.equal('ECONNRESET');
      expect(cut.events).to.deep.equal(['close']);
    });

    it('queues what is written before the handshake is done', async () => {
      const port = await bench.nodeServer({ allowHalfOpen: true }, (socket) => socket.pipe(socket));
      const client = bench.secureClient(port);
      expect(client.connection.write(Buffer.from('early '))).to.equal(PENDING);
      client.connection.write(Buffer.from('bird'));
      client.connection.end();
      await client.until(() => client.ended || client.closes > 0, 'end');
      expect(client.error?.message).to.equal(undefined);
      expect(client.text).to.equal('early bird');
      expect(client.drains).to.equal(1);
    });

    it('carries a megabyte both ways through tiny buffers', async () => {
      const { acceptor, next } = await bench.secureServer();
      const client = bench.secureClient(acceptor.port, {}, Buffer.alloc(1_021));
      const server = await next();
      await server.until(() => server.secured, 'secure');
      server.connection.readInto(Buffer.alloc(333));
      await client.until(() => client.connected, 'connect');
      const up = pattern(MEGABYTE, 1);
      const down = pattern(MEGABYTE, 2);
      await Promise.all([client.send(up, 50_000), server.send(down, 30_000)]);
      await server.until(() => server.bytesReceived === MEGABYTE, 'all bytes');
      await client.until(() => client.bytesReceived === MEGABYTE, 'all bytes');
      expect(server.received.equals(up)).to.equal(true);
      expect(client.received.equals(down)).to.equal(true);
    });

    it('says PENDING to a slow reader and drains', async () => {
      const { acceptor, next } = await bench.secureServer();
      const client = bench.secureClient(acceptor.port);
      const server = await next();
      await client.until(() => client.connected, 'connect');
      await server.until(() => server.secured, 'secure');
      server.connection.pause();
      let sent = 0;
      const stalled = (): boolean => client.drains > 0 && sent > 200;
      while (!stalled()) {
        const before = client.drains;
        const outcome = client.connection.write(pattern(64 * 1024, sent++));
        if (outcome === WRITTEN) continue;
        const turns = await turnsUntil(() => client.drains > before);
        if (turns === undefined) break;
      }
      server.connection.resume();
      await server.until(() => server.bytesReceived === sent * 64 * 1024, 'all bytes');
      const all = Buffer.concat(Array.from({ length: sent }, (_, seed) => pattern(64 * 1024, seed)));
      expect(server.received.equals(all)).to.equal(true);
      expect(sent).to.be.below(200);
    });

    it('serves 50 connections at once, each with its own bytes', async () => {
      const shared = Buffer.alloc(64 * 1024);
      const { acceptor } = await bench.secureServer({}, (probe) => {
        probe.on.secure = () => {
          probe.connection.readInto(shared);
        };
        probe.on.read = () => {
          probe.connection.write(probe.chunks.at(-1)!);
        };
        probe.on.end = () => {
          probe.connection.end();
        };
      });
      const clients = Array.from({ length: 50 }, () => bench.secureClient(acceptor.port));
      await Promise.all(
        clients.map(async (client, index) => {
          await client.until(() => client.connected, 'connect');
          const sent = pattern(40_000, index);
          await client.send(sent, 7_000);
          client.connection.end();
          await client.untilClosed();
          expect(client.received.equals(sent)).to.equal(true);
        }),
      );
    });
  });
}

/** How many turns of the loop it took; undefined when it does not happen within a few. */
async function turnsUntil(condition: () => boolean): Promise<number | undefined> {
  for (let turn = 0; turn < 50; turn++) {
    if (condition()) return turn;
    await new Promise((resolve) => setImmediate(resolve));
  }
  return undefined;
}
