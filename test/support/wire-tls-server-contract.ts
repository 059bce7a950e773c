import { once } from 'node:events';
import { expect } from 'chai';
import { PENDING, WRITTEN, type FaultReport, type Wire } from '../../src/engine/wire/wire.js';
import { expired, forge, TestAuthority } from './certificates.js';
import { pattern } from './wire-probe.js';
import { asking, clientAuthority, contextA, contextB, TlsBench, twinOfA } from './wire-tls-bench.js';

/** What every wire must do as a TLS server, seen by Node's own client. */
export function wireTlsServerContract(name: string, create: (report: FaultReport) => Wire): void {
  describe(`${name} wire, TLS server`, () => {
    let bench: TlsBench;

    beforeEach(() => {
      bench = new TlsBench(create);
    });

    afterEach(async () => {
      await bench.close();
    });

    it('shows the certificate that the ClientHello chose', async () => {
      const { acceptor, next } = await bench.secureServer();
      for (const servername of ['a.test', 'b.test']) {
        const client = bench.nodeClient(acceptor.port, { servername });
        await once(client, 'secureConnect');
        expect(client.getPeerCertificate().subject.CN).to.equal(servername);
        const server = await next();
        await server.until(() => server.secured, 'secure');
        expect(server.connection.tlsSession()).to.deep.equal({
          protocol: 'TLSv1.3',
          cipher: 'TLS_AES_256_GCM_SHA384',
          resumed: false,
        });
        expect(server.connection.peerCertificate()).to.equal(undefined);
      }
    });

    const protocols = [
      { offered: ['http/1.1'], want: 'http/1.1' },
      { offered: ['http/1.1', 'h2'], want: 'h2' },
      { offered: undefined, want: '' },
    ];
    for (const { offered, want } of protocols) {
      it(`agrees on '${want}' when ${offered?.join(' and ') ?? 'nothing'} is offered`, async () => {
        const { acceptor, next } = await bench.secureServer({ alpn: ['h2', 'http/1.1'] });
        const client = bench.nodeClient(
          acceptor.port,
          offered === undefined ? {} : { ALPNProtocols: offered },
        );
        await once(client, 'secureConnect');
        const server = await next();
        await server.until(() => server.secured, 'secure');
        expect(server.connection.alpn).to.equal(want);
        expect(client.alpnProtocol).to.equal(want === '' ? false : want);
      });
    }

    it('refuses a client without a common protocol', async () => {
      const { acceptor, next } = await bench.secureServer({ alpn: ['h2'] });
      const client = bench.nodeClient(acceptor.port, { ALPNProtocols: ['spdy/3'] });
      const [error] = (await once(client, 'error')) as [NodeJS.ErrnoException];
      expect(error.code).to.match(/NO_APPLICATION_PROTOCOL/);
      const server = await next();
      expect((await server.untilClosed())?.code).to.match(/^ERR_SSL_/);
      expect(server.events).to.deep.equal(['close']);
    });

    it('asks nobody for a certificate when it should not', async () => {
      const { acceptor, next } = await bench.secureServer({}, undefined, () => asking);
      const me = clientAuthority.client('me');
      bench.nodeClient(acceptor.port, { cert: me.certificate, key: me.privateKey });
      const server = await next();
      await server.until(() => server.secured, 'secure');
      expect(server.connection.peerCertificate()).to.equal(undefined);
    });

    const good = clientAuthority.client('me', { uris: ['spiffe://x/me'] });
    const foreign = new TestAuthority('Other CA').client('me');
    const old = clientAuthority.client('me', expired());
    const mutual = [
      { mode: 'request', shown: 'none', certificate: undefined, accepted: true },
      { mode: 'request', shown: 'a good one', certificate: good, accepted: true },
      { mode: 'request', shown: 'a foreign one', certificate: foreign, accepted: true },
      { mode: 'require', shown: 'a good one', certificate: good, accepted: true },
      { mode: 'require', shown: 'none', certificate: undefined, accepted: false },
      { mode: 'require', shown: 'a foreign one', certificate: foreign, accepted: false },
      { mode: 'require', shown: 'an expired one', certificate: old, accepted: false },
    ] as const;
    for (const { mode, shown, certificate, accepted } of mutual) {
      for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
        it(`${accepted ? 'lets in' : 'refuses'} ${shown} on ${mode} (${version})`, async () => {
          const { acceptor, next } = await bench.secureServer(
            { clientCertificate: mode },
            undefined,
            () => asking,
          );
          const client = bench.nodeClient(acceptor.port, {
            maxVersion: version,
            cert: certificate?.certificate,
            key: certificate?.privateKey,
          });
          const closed = new Promise((resolve) => client.once('close', resolve));
          const server = await next();
          await server.until(() => server.secured || server.closes > 0, 'a verdict');
          expect(server.secured).to.equal(accepted);
          if (accepted) {
            const shownToServer = server.connection.peerCertificate();
            expect(shownToServer?.subject).to.equal(certificate && 'CN=me');
            if (certificate === good) expect(shownToServer?.subjectAltName).to.equal('URI:spiffe://x/me');
          } else {
            expect(server.error?.code).to.match(/^(ERR_SSL_|UNABLE_TO_|CERT_HAS_EXPIRED|SELF_SIGNED)/);
            client.end();
            await closed;
          }
        });
      }
    }

    const forged = forge(clientAuthority.client('me', { keyType: 'rsa' }));
    for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
      it(`lets in on request whose certificate only claims to be of a known CA (${version})`, async () => {
        const { acceptor, next } = await bench.secureServer({ clientCertificate: 'request' });
        const client = bench.nodeClient(acceptor.port, {
          maxVersion: version,
          cert: forged.certificate,
          key: forged.privateKey,
        });
        const server = await next();
        await server.until(() => server.secured || server.closes > 0, 'a verdict');
        expect(server.error).to.equal(undefined);
        expect(server.connection.peerCertificate()?.subject).to.equal('CN=me');
        client.on('data', (answer: Buffer) => client.write(`${answer.toString()} again`));
        server.connection.write(Buffer.from('once'));
        await server.until(() => server.text === 'once again' || server.closes > 0, 'what follows');
        expect(server.error).to.equal(undefined);
      });

      it(`resumes a session that another thread's context has issued (${version})`, async () => {
        const contexts = [contextA, twinOfA, contextB, asking];
        const { acceptor, next } = await bench.secureServer(
          {},
          undefined,
          () => contexts.shift() ?? contextA,
        );
        let session: Buffer | undefined;
        const resumed: (boolean | undefined)[] = [];
        for (let round = 0; round < 4; round++) {
          const client = bench.nodeClient(acceptor.port, {
            maxVersion: version,
            session,
            checkServerIdentity: () => undefined,
          });
          const fresh = round === 0 ? once(client, 'session') : undefined;
          const server = await next();
          await server.until(() => server.secured, 'secure');
          resumed.push(server.connection.tlsSession()?.resumed);
          server.connection.write(Buffer.from('x'));
          client.resume();
          if (fresh) [session] = (await fresh) as [Buffer];
          client.destroy();
        }
        // Neither another certificate nor other client CAs take it.
        expect(resumed).to.deep.equal([false, true, false, false]);
      });
    }

    it('takes nothing that follows for clear text, however little was read before', async () => {
      const { acceptor, next } = await bench.serve((probe, connection) => {
        probe.on.read = () => {
          if (probe.chunks.length > 1) return;
          const options = { context: contextA, alpn: [], clientCertificate: 'none' } as const;
          connection.secure(options, probe.received);
        };
        probe.attach(connection, Buffer.alloc(50));
      });
      bench.nodeClient(acceptor.port).write('hello');
      const server = await next();
      await server.until(() => server.bytesReceived > 50, 'more');
      expect(server.events).to.deep.equal(['read', 'secure', 'read']);
      expect(server.text.slice(50)).to.equal('hello');
    });

    it('keeps what comes right after the handshake until it is wanted', async () => {
      const { acceptor, next } = await bench.secureServer({}, (probe) => {
        probe.on.secure = () => {
          probe.connection.pause();
        };
      });
      const client = bench.nodeClient(acceptor.port);
      const sent = pattern(100_000);
      client.write(sent);
      const server = await next();
      await server.until(() => server.secured, 'secure');
      expect(server.bytesReceived).to.equal(0);
      server.connection.resume();
      expect(server.bytesReceived).to.equal(0);
      await server.until(() => server.bytesReceived === sent.length, 'bytes');
      expect(server.received.equals(sent)).to.equal(true);
    });

    it('does not touch the buffer after a pause within a read', async () => {
      const { acceptor, next } = await bench.secureServer();
      const client = bench.nodeClient(acceptor.port);
      const server = await next();
      await server.until(() => server.secured, 'secure');
      const own = Buffer.alloc(64 * 1024);
      server.connection.readInto(own);
      let copy = Buffer.alloc(0);
      server.on.read = () => {
        server.connection.pause();
        copy = Buffer.from(own);
      };
      const sent = pattern(60_000);
      client.write(sent);
      await server.until(() => server.bytesReceived > 0, 'first bytes');
      for (let turn = 0; server.bytesReceived < sent.length; turn++) {
        expect(turn).to.be.below(1_000);
        await new Promise((resolve) => setImmediate(resolve));
        expect(own.equals(copy)).to.equal(true);
        server.connection.resume();
      }
      expect(server.received.equals(sent)).to.equal(true);
    });

    it('serialises writes of one turn', async () => {
      const { acceptor, next } = await bench.secureServer();
      const client = bench.nodeClient(acceptor.port);
      const received: Buffer[] = [];
      client.on('data', (chunk: Buffer) => received.push(chunk));
      const server = await next();
      await server.until(() => server.secured, 'secure');
      const pieces = Array.from({ length: 50 }, (_, index) => pattern(100 + index, index));
      const outcomes = pieces.map((piece, index) =>
        index % 3 === 0
          ? server.connection.write(piece)
          : server.connection.write(piece.subarray(0, 50), piece.subarray(50)),
      );
      expect(outcomes[0]).to.be.oneOf([WRITTEN, PENDING]);
      expect(outcomes[1]).to.equal(PENDING);
      server.connection.end();
      await once(client, 'end');
      expect(Buffer.concat(received).equals(Buffer.concat(pieces))).to.equal(true);
      expect(server.drains).to.equal(1);
      client.end();
      expect(await server.untilClosed()).to.equal(undefined);
    });

    it('writes two buffers as one', async () => {
      const { acceptor, next } = await bench.secureServer();
      const client = bench.nodeClient(acceptor.port);
      const received: Buffer[] = [];
      client.on('data', (chunk: Buffer) => received.push(chunk));
      const server = await next();
      await server.until(() => server.secured, 'secure');
      const body = pattern(100_000);
      expect(server.connection.write(Buffer.from('head '), body)).to.be.oneOf([WRITTEN, PENDING]);
      server.connection.end();
      await once(client, 'end');
      expect(Buffer.concat(received).equals(Buffer.concat([Buffer.from('head '), body]))).to.equal(true);
      client.end();
      expect(await server.untilClosed()).to.equal(undefined);
    });

    it('goes on reading after it has sent its close alert', async () => {
      const { acceptor, next } = await bench.secureServer();
      const client = bench.nodeClient(acceptor.port);
      client.resume();
      const server = await next();
      await server.until(() => server.secured, 'secure');
      server.connection.end();
      await once(client, 'end');
      client.end('last words');
      await server.untilClosed();
      expect(server.text).to.equal('last words');
      expect(server.error).to.equal(undefined);
    });

    it('closes without waiting for the peer, after what is pending and its close alert', async () => {
      const { acceptor, next } = await bench.secureServer();
      for (const bytes of [pattern(100), pattern(4_000_000)]) {
        const client = bench.nodeClient(acceptor.port);
        const received: Buffer[] = [];
        client.on('data', (chunk: Buffer) => received.push(chunk));
        const server = await next();
        await server.until(() => server.secured, 'secure');
        server.connection.write(bytes);
        server.connection.close();
        await once(client, 'end');
        expect(Buffer.concat(received).equals(bytes)).to.equal(true);
        expect(await server.untilClosed()).to.equal(undefined);
        client.destroy();
      }
    });

    it('takes the end of a peer that sends no close alert', async () => {
      const { acceptor, next } = await bench.secureServer();
      const raw = await bench.rawClient(acceptor.port);
      const client = bench.nodeClient(0, { socket: raw });
      const server = await next();
      await server.until(() => server.secured, 'secure');
      raw.end();
      await server.until(() => server.ended || server.closes > 0, 'end');
      expect(server.ended).to.equal(true);
      client.destroy();
    });

    it('refuses garbage', async () => {
      const { acceptor, next } = await bench.secureServer();
      const raw = await bench.rawClient(acceptor.port);
      raw.write('GET / HTTP/1.1\r\n\r\n');
      const server = await next();
      expect((await server.untilClosed())?.code).to.match(/^ERR_SSL_/);
      expect(server.events).to.deep.equal(['close']);
    });

    it('gives up on a handshake that is cut, and lets one that stalls be destroyed', async () => {
      const { acceptor, next } = await bench.serve((_, connection) => {
        connection.secure({ context: contextA, alpn: [], clientCertificate: 'none' }, Buffer.alloc(0));
      });
      await bench.rawClient(acceptor.port);
      const stalled = await next();
      stalled.connection.destroy();
      expect(await stalled.untilClosed()).to.equal(undefined);
      const cut = await bench.rawClient(acceptor.port);
      cut.end();
      expect((await (await next()).untilClosed())?.code).to.equal('ECONNRESET');
    });

    for (const event of ['secure', 'read', 'end'] as const) {
      for (const way of ['destroy', 'reset'] as const) {
        it(`survives ${way} within ${event}`, async () => {
          const { acceptor, next } = await bench.secureServer({}, (probe) => {
            probe.on[event] = () => {
              probe.connection.write(pattern(200_000));
              probe.connection[way]();
            };
          });
          const client = bench.nodeClient(acceptor.port);
          client.resume();
          client.end(pattern(50_000));
          const server = await next();
          expect(await server.untilClosed()).to.equal(undefined);
          expect(server.events.slice(-2)).to.deep.equal([event, 'close']);
        });
      }
    }

    it('refuses TLS 1.1', async () => {
      const { acceptor, next } = await bench.secureServer();
      const options = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'ALL:@SECLEVEL=0' } as const;
      bench.nodeClient(acceptor.port, options);
      expect((await (await next()).untilClosed())?.code).to.match(/^ERR_SSL_/);
    });
  });
}
