import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect as netConnect, type AddressInfo, type Socket } from 'node:net';
import {
  connect as tlsConnect,
  createServer as createTlsServer,
  type ConnectionOptions,
  type SecureContext,
  type TlsOptions,
  type TLSSocket,
} from 'node:tls';
import { expect } from 'chai';
import { readClientHello } from '../../src/engine/wire/tls/client-hello.js';
import {
  createClientContext,
  createServerContext,
  TICKET_KEY_BYTES,
  type KeyPair,
} from '../../src/engine/wire/tls/secure-contexts.js';
import type { Acceptor, ClientTlsOptions, ServerTlsOptions } from '../../src/engine/wire/wire.js';
import { TestAuthority, type IssuedCertificate } from './certificates.js';
import { WireBench, type Probe } from './wire-probe.js';

export const authority = new TestAuthority('Server CA');
export const clientAuthority = new TestAuthority('Client CA', { keyType: 'rsa' });
const a = authority.server(['a.test']);
const b = authority.server(['b.test'], { keyType: 'rsa' });
const ticketKeys = randomBytes(TICKET_KEY_BYTES);

export const pairOf = ({ certificate, privateKey }: IssuedCertificate): KeyPair => ({
  chain: certificate,
  privateKey,
});
export const contextA = createServerContext({ keyPairs: [pairOf(a)], ticketKeys });
/** As another thread has it: equal, not the same. */
export const twinOfA = createServerContext({ keyPairs: [pairOf(a)], ticketKeys });
export const contextB = createServerContext({ keyPairs: [pairOf(b)], ticketKeys });
/** Shows what `contextA` shows and knows the CA of clients. */
export const asking = createServerContext({
  keyPairs: [pairOf(a)],
  clientCa: clientAuthority.certificate,
  ticketKeys,
});
export const trusting = createClientContext({ ca: authority.certificate });

/** A bench with peers that speak TLS: the wire under test and Node's own. */
export class TlsBench extends WireBench {
  readonly #cleanup: (() => void)[] = [];

  /** Reads the ClientHello first, as the engine does, then secures. */
  secureServer(
    options: Partial<ServerTlsOptions> = {},
    prepare: (probe: Probe) => void = () => undefined,
    choose: (serverName: string) => SecureContext = (serverName) =>
      serverName === 'b.test' ? contextB : contextA,
  ): Promise<{ readonly acceptor: Acceptor; readonly next: () => Promise<Probe> }> {
    return this.serve((probe, connection) => {
      const onRead = probe.onRead.bind(probe);
      let hello = Buffer.alloc(0);
      probe.onRead = (bytes, length) => {
        hello = Buffer.concat([hello, bytes.subarray(0, length)]);
        const result = readClientHello(hello, hello.length);
        if (result.state === 'more') return;
        probe.onRead = onRead;
        const context = choose(result.state === 'complete' ? result.serverName : '');
        connection.secure({ context, alpn: [], clientCertificate: 'none', ...options }, hello);
      };
      probe.attach(connection, Buffer.alloc(64 * 1024));
      prepare(probe);
    });
  }

  secureClient(port: number, tls: Partial<ClientTlsOptions> = {}, buffer = Buffer.alloc(64 * 1024)): Probe {
    return this.connect(port, buffer, {
      tls: { context: trusting, serverName: 'a.test', alpn: [], sessionKey: 'x', ...tls },
    });
  }

  nodeClient(port: number, options: ConnectionOptions = {}): TLSSocket {
    const defaults = {
      host: '127.0.0.1',
      port,
      servername: 'a.test',
      ca: authority.certificate,
      allowHalfOpen: true,
    };
    const socket = tlsConnect({ ...defaults, ...options });
    socket.on('error', () => undefined);
    this.#cleanup.push(() => socket.destroy());
    return socket;
  }

  async nodeServer(options: TlsOptions, serve: (socket: TLSSocket) => void): Promise<number> {
    const server = createTlsServer({ cert: a.certificate, key: a.privateKey, ...options }, (socket) => {
      socket.on('error', () => undefined);
      this.#cleanup.push(() => socket.destroy());
      serve(socket);
    });
    server.on('tlsClientError', () => undefined);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    this.#cleanup.push(() => server.close());
    return (server.address() as AddressInfo).port;
  }

  async rawClient(port: number): Promise<Socket> {
    const socket = netConnect(port, '127.0.0.1');
    socket.on('error', () => undefined);
    this.#cleanup.push(() => socket.destroy());
    await once(socket, 'connect');
    return socket;
  }

  override async close(): Promise<void> {
    for (const undo of this.#cleanup.splice(0)) undo();
    await super.close();
    expect(this.faults).to.deep.equal([]);
  }
}
