import type { OnReadOpts, Socket } from 'node:net';
import { HandledConnection } from './handled-connection.js';
import { NetInput, type NetInputOwner } from './net-input.js';
import { NetTls, type NetTlsOwner } from './net-tls.js';
import type { ClientSessions } from './tls/client-sessions.js';
import { CONNECT_TIMEOUT, HANDSHAKE_CUT, NO_HANDLER, toWireError } from './wire-faults.js';
import {
  FAILED,
  PENDING,
  WRITTEN,
  type Connection,
  type ConnectionHandler,
  type ConnectOptions,
  type FaultReport,
  type PeerCertificate,
  type ServerTlsOptions,
  type TlsSession,
  type WireError,
  type WriteOutcome,
} from './wire.js';

/**
 * Where every plain upstream read of this thread lands before it is copied to the handler's buffer. A handler may
 * take its buffer away at any time, so Node never gets to know it.
 */
const LANDING = Buffer.allocUnsafeSlow(64 * 1024);

interface ConnectContext {
  readonly handler: ConnectionHandler;
  readonly report: FaultReport;
  readonly sessions: ClientSessions;
}

/** A TCP socket of Node's, with or without its TLS socket on it. */
export class NetConnection extends HandledConnection implements Connection, NetInputOwner, NetTlsOwner {
  closed = false;
  handshaking: boolean;
  readonly remoteAddress: string;
  readonly remotePort: number;
  /** The TCP socket. Its `close` is the connection's. */
  readonly #raw: Socket;
  readonly #input: NetInput;
  readonly #isClient: boolean;
  /** What application data flows through: the TCP socket or the TLS socket on it. */
  #socket: Socket;
  #tls: NetTls | undefined;
  /** Written before there was a TLS socket. */
  #early: Buffer[] = [];
  #pending = false;
  #ending = false;
  #error: WireError | undefined;
  #timer: NodeJS.Timeout | undefined;

  private constructor(
    raw: Socket,
    handler: ConnectionHandler,
    report: FaultReport,
    remote: ConnectOptions | undefined,
  ) {
    super(handler, report);
    this.handshaking = remote?.tls !== undefined;
    this.remoteAddress = remote?.address ?? raw.remoteAddress ?? '';
    this.remotePort = remote?.port ?? raw.remotePort ?? 0;
    this.#raw = raw;
    this.#socket = raw;
    this.#input = new NetInput(raw, this);
    this.#isClient = remote !== undefined;
    raw.on('error', this.#onError);
    raw.on('close', this.#onClose);
  }

  static accepted(raw: Socket, report: FaultReport): NetConnection {
    const connection = new NetConnection(raw, NO_HANDLER, report, undefined);
    connection.#input.listen(raw);
    return connection;
  }

  static connecting(
    open: (onread: OnReadOpts) => Socket,
    options: ConnectOptions,
    context: ConnectContext,
  ): NetConnection {
    const { tls, timeoutMs } = options;
    const raw = open({
      buffer: LANDING,
      callback: (length) => {
        connection.#input.onData(Buffer.from(LANDING.subarray(0, length)));
        return true;
      },
    });
    const connection = new NetConnection(raw, context.handler, context.report, options);
    raw.pause();
    connection.#timer = setTimeout(() => {
      connection.fail(CONNECT_TIMEOUT);
    }, timeoutMs);
    raw.once('connect', () => {
      if (tls === undefined) connection.ready();
      else connection.#startTls(NetTls.client(raw, connection, { options: tls, sessions: context.sessions }));
    });
    if (tls === undefined) connection.#input.listen(raw);
    return connection;
  }

  get localAddress(): string {
    return this.#raw.localAddress ?? '';
  }

  get localPort(): number {
    return this.#raw.localPort ?? 0;
  }

  get alpn(): string {
    return this.#tls?.alpn ?? '';
  }

  peerCertificate(): PeerCertificate | undefined {
    return this.#tls?.peerCertificate();
  }

  tlsSession(): TlsSession | undefined {
    return this.closed ? undefined : this.#tls?.session();
  }

  readInto(buffer: Buffer): void {
    this.#input.readInto(buffer);
  }

  resume(): void {
    this.#input.resume();
  }

  pause(): void {
    this.#input.pause();
  }

  write(bytes: Buffer, more?: Buffer): WriteOutcome {
    if (this.closed || this.#ending) return FAILED;
    if (this.#awaitsTls) {
      // Not in the clear: OpenSSL comes first.
      this.#early.push(bytes);
      if (more !== undefined) this.#early.push(more);
      this.#pending = true;
      return PENDING;
    }
    if (more === undefined) this.#socket.write(bytes, this.#onWritten);
    else this.#writeBoth(bytes, more);
    if (this.#socket.destroyed) return FAILED;
    // Node hands bytes to the kernel within write(); what is left counts here.
    if (this.#socket.writableLength === 0) return WRITTEN;
    this.#pending = true;
    return PENDING;
  }

  writeConstant(bytes: Buffer): WriteOutcome {
    return this.write(bytes);
  }

  end(): void {
    if (this.closed || this.#ending) return;
    this.#ending = true;
    if (!this.#awaitsTls) this.#socket.end();
  }

  close(): void {
    this.end();
    const socket = this.#socket;
    if (socket.writableFinished || this.handshaking) {
      this.destroy();
      return;
    }
    socket.once('finish', () => {
      this.destroy();
    });
  }

  destroy(): void {
    this.#stop(undefined);
    this.#raw.destroy();
  }

  reset(): void {
    this.#stop(undefined);
    // While a shutdown is under way libuv refuses a reset, after which Node would never close the socket.
    if (this.#ending && !this.#socket.writableFinished) this.#raw.destroy();
    else this.#raw.resetAndDestroy();
  }

  secure(options: ServerTlsOptions, received: Buffer): void {
    if (this.closed) return;
    this.handshaking = true;
    const first = Buffer.from(received);
    this.#input.release();
    // Within onRead the rest of the chunk is not known yet: it is by the next tick.
    process.nextTick(() => {
      if (this.closed) return;
      const rest = this.#input.takeRest();
      const hello = rest === undefined ? first : Buffer.concat([first, rest]);
      if (hello.length > 0) this.#raw.unshift(hello);
      this.#startTls(NetTls.server(this.#raw, this, options));
    });
  }

  ended(): void {
    this.tell('onEnd');
  }

  /** Connected, and with TLS the handshake is done and the peer is who it should be. */
  ready(): void {
    clearTimeout(this.#timer);
    this.handshaking = false;
    this.#input.ready();
    this.tell(this.#isClient ? 'onConnect' : 'onSecure');
  }

  fail(error: WireError): void {
    this.#stop(error);
    this.#raw.destroy();
  }

  /** There will be TLS, but there is no socket for it yet. */
  get #awaitsTls(): boolean {
    return this.handshaking && this.#tls === undefined;
  }

  #startTls(tls: NetTls): void {
    const { socket } = tls;
    this.#tls = tls;
    this.#socket = socket;
    this.#input.listen(socket);
    for (const bytes of this.#early) socket.write(bytes, this.#onWritten);
    this.#early = [];
    if (this.#ending) socket.end();
  }

  #writeBoth(bytes: Buffer, more: Buffer): void {
    this.#socket.cork();
    this.#socket.write(bytes);
    this.#socket.write(more, this.#onWritten);
    this.#socket.uncork();
  }

  readonly #onWritten = (): void => {
    if (!this.#pending || this.closed || this.#socket.writableLength !== 0) return;
    this.#pending = false;
    this.tell('onDrain');
  };

  readonly #onError = (error: Error): void => {
    this.fail(toWireError(error));
  };

  readonly #onClose = (): void => {
    // The socket was closed under us, by both sides' FIN or by an error that #onError has kept.
    if (!this.closed) this.#stop(this.handshaking ? HANDSHAKE_CUT : undefined);
    this.tellClose(this.#error);
  };

  #stop(error: WireError | undefined): void {
    if (this.closed) return;
    this.closed = true;
    this.#error = error;
    this.#input.stop();
    clearTimeout(this.#timer);
  }
}
