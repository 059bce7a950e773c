/**
 * The transport under every protocol: accept, connect, read into a given buffer, try-write, pause, half-close, TLS.
 *
 * In: sockets. Out: bytes to {@link ConnectionHandler}s. It must not know a protocol above TLS.
 * Two implementations pass one contract suite: `net` (documented Node API only) and `handle` (libuv handles).
 *
 * Ownership of buffers, for both:
 * - The buffer given to {@link Connection.readInto} stays the handler's. The wire writes into it between
 *   {@link Connection.resume} and {@link Connection.pause}. Bytes are valid only during `onRead`, unless the
 *   handler owns the buffer alone; a buffer that several connections share must be consumed within `onRead`.
 * - Buffers given to {@link Connection.write} may be reused at once when the answer is `WRITTEN`. When it is
 *   `PENDING` they belong to the wire until `onDrain`.
 *
 * Order of calls, for both:
 * - No callback runs within a call of a {@link Connection}'s method; `onClose` follows later, exactly once, last.
 * - After `destroy` or `reset` only `onClose` follows.
 * - When both sides have sent FIN (`onEnd` was called and `end` has been carried out) the connection closes itself.
 * - While a connection is paused only writes notice that the peer is gone.
 * - A handler that throws is reported and its connection destroyed (`ERR_HANDLER_FAULT`): no input ends the process.
 */
import type { SecureContext } from 'node:tls';

/** Every byte was taken: it leaves by the end of this turn of the event loop. */
export const WRITTEN = 0;
/** The bytes are on their way; stop producing and wait for `onDrain`. Writes made meanwhile are queued in order. */
export const PENDING = 1;
/** The connection is gone; `onClose` has been or will be called. */
export const FAILED = 2;
export type WriteOutcome = typeof WRITTEN | typeof PENDING | typeof FAILED;

export interface Wire {
  readonly name: 'net' | 'handle';
  /** Binds and listens. Rejects with the system's code (`EADDRINUSE`, `EACCES`, `EADDRNOTAVAIL`). */
  listen(options: ListenOptions): Promise<Acceptor>;
  /**
   * Starts to connect; `onConnect` or `onClose` follows. The address may be a name, which is resolved each time.
   * What is written before `onConnect` waits for it, and is `PENDING`.
   */
  connect(options: ConnectOptions, handler: ConnectionHandler): Connection;
}

export interface ListenOptions {
  readonly address: string;
  /** 0 lets the system choose. */
  readonly port: number;
  readonly backlog: number;
  /** Several threads bind the same port and the kernel spreads connections over them. Else: refused when it is in use. */
  readonly reusePort: boolean;
  /** Must set the connection's handler; the connection is paused until it is resumed. */
  readonly accept: (connection: Connection) => void;
}

/** Told of faults that belong to no connection or are bugs of a handler; they are for the log. */
export type FaultReport = (fault: { readonly code: string; readonly error: unknown }) => void;

export interface Acceptor {
  readonly address: string;
  readonly port: number;
  /** Stops accepting; connections that were accepted stay. */
  close(): Promise<void>;
}

export interface ConnectOptions {
  readonly address: string;
  readonly port: number;
  /** Time in ms for resolving, connecting and the handshake together. */
  readonly timeoutMs: number;
  readonly tls?: ClientTlsOptions;
}

/** The chain is always verified against the CAs of `context`. */
export interface ClientTlsOptions {
  readonly context: SecureContext;
  /** Sent as SNI, unless it is an IP address (RFC 6066 section 3). */
  readonly serverName: string;
  /** Empty: ALPN is not offered. */
  readonly alpn: readonly string[];
  /**
   * Whether the leaf is the right one; the text is the reason to refuse. Absent: it must be valid for `serverName`.
   * See `createIdentityCheck`.
   */
  readonly verify?: (certificate: PeerCertificate) => string | undefined;
  /** Sessions are resumed among connections with an equal key and the same `context`. */
  readonly sessionKey: string;
}

export interface ServerTlsOptions {
  readonly context: SecureContext;
  /** Most wanted first. Empty: ALPN is ignored. No common one: the handshake fails (RFC 7301 section 3.2). */
  readonly alpn: readonly string[];
  /**
   * `none`: do not ask. `request`: ask, accept everything; the context must know no CA of clients, see
   * `ServerContextOptions.clientCa`. `require`: only a certificate that verifies.
   */
  readonly clientCertificate: 'none' | 'request' | 'require';
}

export interface PeerCertificate {
  readonly subject: string;
  /** As Node prints it: `DNS:a.test, URI:spiffe://x`. */
  readonly subjectAltName: string;
  /** DER. */
  readonly raw: Buffer;
}

export interface TlsSession {
  /** `TLSv1.3`. */
  readonly protocol: string;
  /** As OpenSSL names it: `TLS_AES_256_GCM_SHA384`. */
  readonly cipher: string;
  readonly resumed: boolean;
}

export interface Connection {
  handler: ConnectionHandler;
  readonly remoteAddress: string;
  readonly remotePort: number;
  readonly localAddress: string;
  readonly localPort: number;
  /** Negotiated protocol, or `''`; set when `onSecure` is called. */
  readonly alpn: string;
  /** The peer's certificate; of a client only when it was asked for and given. */
  peerCertificate(): PeerCertificate | undefined;
  /** What the handshake has agreed on; absent on a connection without TLS. */
  tlsSession(): TlsSession | undefined;
  /**
   * Where the next bytes land. Within `onRead` a switch is free. Elsewhere it costs the `handle` wire some 50 bytes
   * of native memory until the connection closes: keep the buffer as long as the connection, or switch in `onRead`.
   */
  readInto(buffer: Buffer): void;
  resume(): void;
  pause(): void;
  /** `more` follows `bytes`: together they cost one call of the system, or one TLS record where they fit into it. */
  write(bytes: Buffer, more?: Buffer): WriteOutcome;
  /** As `write`, for bytes that never change: what is `WRITTEN` may be taken later, and no copy is made. */
  writeConstant(bytes: Buffer): WriteOutcome;
  /** Sends FIN (and the TLS close alert) after everything written. Reading goes on. */
  end(): void;
  /**
   * As `end`, and closes without waiting for the peer's FIN. For peers that have said that nothing more will come: what
   * comes all the same makes it a reset, which may take from the peer what it has not read yet (RFC 9112 section 9.6).
   */
  close(): void;
  /** Ends at once, without waiting for what was `PENDING`. The peer may take it for an orderly end: see `reset`. */
  destroy(): void;
  /** Ends with RST: the peer cannot take what it has for the whole. */
  reset(): void;
  /**
   * Makes an accepted connection a TLS server. `received` are bytes that were already read (the ClientHello);
   * `onSecure` or `onClose` follows; a handshake that takes too long is the handler's to destroy. Only before anything
   * was written. `received` is consumed within the call.
   * Application data flows as {@link Connection.resume} and {@link Connection.pause} say, before or after.
   */
  secure(options: ServerTlsOptions, received: Buffer): void;
}

export interface ConnectionHandler {
  /** Connected (and, with TLS, the handshake has succeeded). Only for connections made by `connect`. */
  onConnect(): void;
  /** The handshake of {@link Connection.secure} has succeeded. */
  onSecure(): void;
  /** `length` bytes arrived at the start of `buffer`, the one given to `readInto`. */
  onRead(buffer: Buffer, length: number): void;
  /** The peer sent FIN: no more bytes will come. */
  onEnd(): void;
  /** Everything that was `PENDING` has been taken. */
  onDrain(): void;
  /** Called exactly once, last; with the system's or TLS code when it was not an orderly end. */
  onClose(error: WireError | undefined): void;
}

export interface WireError {
  /** `ECONNRESET`, `ECONNREFUSED`, `ETIMEDOUT`, `ERR_TLS_…`, … */
  readonly code: string;
  readonly message: string;
}
