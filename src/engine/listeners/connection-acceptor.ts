import type { Listener, Server } from '../../ir/listener.js';
import type { TrustedProxies } from '../exchange/connection-context.js';
import { ConnectionContext } from '../exchange/connection-context.js';
import type { DownstreamContext } from '../exchange/downstream.js';
import { Timer, type TimerWheel } from '../exchange/timer-wheel.js';
import type { ProxyHeader } from '../proxy-protocol/parse-proxy-header.js';
import { ProxyHeaderReader } from '../proxy-protocol/proxy-header-reader.js';
import type { StreamDestination } from '../l4/stream-destination.js';
import type { HostTable } from '../routing/host-table.js';
import { CLIENT_HELLO_LIMIT, readClientHello } from '../wire/tls/client-hello.js';
import type { HandshakeGate } from '../wire/tls/handshake-gate.js';
import type { Connection, ConnectionHandler, ServerTlsOptions } from '../wire/wire.js';

/** A server of a TLS socket with what its handshakes need; undefined `tls` when its certificates cannot be used. */
export interface TlsServer {
  readonly server: Server;
  readonly tls: ServerTlsOptions | undefined;
  /** Set when it carries bytes: as they come without `server.tls`, else what is within TLS. */
  readonly stream: StreamDestination | undefined;
}

/** What connections of one socket are accepted with; replaced as a whole by the next revision. */
export interface ListenerRuntime {
  readonly listener: Listener;
  readonly trusted: TrustedProxies;
  /** By SNI; empty on sockets without TLS. */
  readonly tlsServers: HostTable<TlsServer>;
  /** Where connections or sessions of a `tcp` or `udp` socket go; undefined: nowhere. */
  readonly stream: StreamDestination | undefined;
}

/** Where connections go once it is known what they speak. */
export interface ProtocolServers {
  http1(connection: Connection, context: DownstreamContext, received: Buffer): void;
  http2(connection: Connection, context: DownstreamContext, received: Buffer): void;
}

/** Where connections go whose bytes nobody looks at. */
export interface StreamServer {
  relay(
    connection: Connection,
    listener: string,
    destination: StreamDestination | undefined,
    received: Buffer,
  ): void;
}

/** Counts of connections, by listener key. */
export interface ConnectionCounts {
  opened(listener: string): void;
  closed(listener: string): void;
  refused(listener: string): void;
  handshakeFailed(listener: string): void;
  /** Connections that are open in this worker. */
  active(listener: string): number;
}

export interface AcceptorServices {
  readonly runtime: (listener: string) => ListenerRuntime | undefined;
  readonly servers: ProtocolServers;
  readonly streams: StreamServer;
  readonly counts: ConnectionCounts;
  readonly handshakes: HandshakeGate;
  readonly wheel: TimerWheel;
}

const HANDSHAKE_TIMEOUT_MS = 10_000;
const NOTHING = Buffer.alloc(0);

/**
 * Takes accepted connections up to the point where a protocol serves them.
 *
 * In: connections of a socket. Out: connections with their context at a protocol server. TLS is ended here, with the
 * server that the ClientHello's name chooses, unless that server wants it as it is; a connection for no server is closed
 * without a word (GEP-2643).
 */
export class ConnectionAcceptor {
  readonly #services: AcceptorServices;
  readonly #landing = Buffer.allocUnsafeSlow(CLIENT_HELLO_LIMIT);

  constructor(services: AcceptorServices) {
    this.#services = services;
  }

  accept(listener: string, connection: Connection): void {
    const runtime = this.#services.runtime(listener);
    if (!runtime || !this.#admit(runtime)) {
      connection.destroy();
      return;
    }
    if (!runtime.listener.settings.proxyProtocol) {
      this.#greet(connection, runtime, connection, NOTHING);
      return;
    }
    ProxyHeaderReader.read(connection, {
      wheel: this.#services.wheel,
      timeoutMs: runtime.listener.settings.readHeaderTimeoutMs,
      done: (header, rest) => {
        this.#greet(connection, runtime, header.source ? peerFrom(header, connection) : connection, rest);
      },
      refused: () => {
        this.#services.counts.refused(runtime.listener.key);
      },
    });
  }

  #admit({ listener }: ListenerRuntime): boolean {
    const { connectionsLimit } = listener.settings;
    if (connectionsLimit === 0 || this.#services.counts.active(listener.key) < connectionsLimit) return true;
    this.#services.counts.refused(listener.key);
    return false;
  }

  #greet(connection: Connection, runtime: ListenerRuntime, peer: Peer, received: Buffer): void {
    const { protocol, key } = runtime.listener;
    if (protocol === 'http') {
      this.#services.servers.http1(connection, contextOf(runtime, connection, peer, undefined), received);
      return;
    }
    if (protocol !== 'tls') {
      this.#services.streams.relay(connection, key, runtime.stream, received);
      return;
    }
    const greeting = new TlsGreeting(connection, { runtime, peer }, this.#services);
    connection.handler = greeting;
    connection.readInto(this.#landing);
    greeting.start(received);
  }
}

/** Who is at the other end: the connection itself says it, or a PROXY header. */
type Peer = Pick<Connection, 'remoteAddress' | 'remotePort' | 'localAddress' | 'localPort'>;

function peerFrom({ source, destination }: ProxyHeader, connection: Connection): Peer {
  return {
    remoteAddress: source?.address ?? connection.remoteAddress,
    remotePort: source?.port ?? connection.remotePort,
    localAddress: destination?.address ?? connection.localAddress,
    localPort: destination?.port ?? connection.localPort,
  };
}

function contextOf(
  { listener, trusted }: ListenerRuntime,
  connection: Connection,
  peer: Peer,
  server: Server | undefined,
): ConnectionContext {
  return new ConnectionContext({
    listener: listener.key,
    settings: listener.settings,
    secure: server !== undefined,
    sniServer: server?.hostname,
    remoteAddress: peer.remoteAddress,
    remotePort: peer.remotePort,
    localAddress: peer.localAddress,
    localPort: peer.localPort,
    // A trusted proxy is one that sent the bytes, not one that is named in them.
    trusted: trusted.has(connection.remoteAddress),
    forwarded: 'x',
  });
}

/** A TLS connection until its handshake has ended. */
class TlsGreeting extends Timer implements ConnectionHandler {
  readonly #connection: Connection;
  readonly #runtime: ListenerRuntime;
  readonly #peer: Peer;
  readonly #services: AcceptorServices;
  #received: Buffer = NOTHING;
  #chosen: TlsServer | undefined;
  #over = false;

  constructor(
    connection: Connection,
    { runtime, peer }: { readonly runtime: ListenerRuntime; readonly peer: Peer },
    services: AcceptorServices,
  ) {
    super();
    this.#connection = connection;
    this.#runtime = runtime;
    this.#peer = peer;
    this.#services = services;
  }

  start(received: Buffer): void {
    this.#services.wheel.arm(this, this.#runtime.listener.settings.readHeaderTimeoutMs);
    this.#connection.resume();
    if (received.length > 0) this.onRead(received, received.length);
  }

  onRead(buffer: Buffer, length: number): void {
    if (this.#chosen) return;
    const part = buffer.subarray(0, length);
    const bytes = this.#received.length === 0 ? part : Buffer.concat([this.#received, part]);
    const hello = readClientHello(bytes, bytes.length);
    if (hello.state === 'more' && bytes.length < CLIENT_HELLO_LIMIT) {
      // The landing buffer is shared by all connections.
      this.#received = bytes === part ? Buffer.from(part) : bytes;
      return;
    }
    const server = hello.state === 'complete' ? this.#runtime.tlsServers.find(hello.serverName) : undefined;
    if (server?.tls) this.#secure(server, server.tls, bytes);
    // Not when TLS should end here and cannot.
    else if (server?.stream && !server.server.tls) this.#passThrough(server.stream, Buffer.from(bytes));
    else this.#fail();
  }

  onSecure(): void {
    const { servers, streams } = this.#services;
    this.#end();
    if (this.#chosen?.stream) {
      streams.relay(this.#connection, this.#runtime.listener.key, this.#chosen.stream, NOTHING);
      return;
    }
    const context = contextOf(this.#runtime, this.#connection, this.#peer, this.#chosen?.server);
    if (this.#connection.alpn === 'h2') servers.http2(this.#connection, context, NOTHING);
    else servers.http1(this.#connection, context, NOTHING);
  }

  onClose(): void {
    if (this.#over) return;
    this.#end();
    this.#services.counts.handshakeFailed(this.#runtime.listener.key);
  }

  onEnd(): void {
    this.#fail();
  }

  onDrain(): void {
    // Nothing is written here.
  }

  onConnect(): void {
    // Accepted connections are connected.
  }

  override expire(): void {
    this.#fail();
  }

  #passThrough(destination: StreamDestination, received: Buffer): void {
    this.#end();
    this.#services.streams.relay(this.#connection, this.#runtime.listener.key, destination, received);
  }

  #secure(server: TlsServer, tls: ServerTlsOptions, received: Buffer): void {
    this.#chosen = server;
    this.#received = NOTHING;
    this.#services.wheel.arm(this, HANDSHAKE_TIMEOUT_MS);
    // The gate pauses a connection whose turn has not come, and resumes it.
    this.#services.handshakes.secure(this.#connection, tls, received);
  }

  #fail(): void {
    this.#connection.destroy();
  }

  #end(): void {
    this.#over = true;
    this.#services.wheel.remove(this);
  }
}
