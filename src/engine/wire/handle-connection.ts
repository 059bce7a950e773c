import { isIPv6 } from 'node:net';
import { messageOf } from '../../util/errors.js';
import {
  UV_EOF,
  type HandleOwner,
  type SocketName,
  type StreamHandle,
  type TcpHandle,
} from './handle-bindings.js';
import {
  flush,
  localName,
  remoteName,
  newConnectRequest,
  newShutdownRequest,
  onClosed,
  onRead,
  onTimeout,
} from './handle-callbacks.js';
import { HandleOutput, type OutputContext } from './handle-output.js';
import { TlsLayer } from './handle-tls.js';
import type { ClientSessions } from './tls/client-sessions.js';
import { CONNECT_TIMEOUT, HANDSHAKE_CUT, NO_HANDLER, toSystemError } from './wire-faults.js';
import {
  FAILED,
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

/** What all connections of a wire share. */
export interface HandleContext extends OutputContext {
  readonly report: FaultReport;
  readonly sessions: ClientSessions;
}

/**
 * A TCP handle of libuv, with or without OpenSSL on it.
 *
 * A native handle is strong until it is closed and holds its connection by a property, so neither is collected while
 * the kernel may still call. What libuv knows only as a pointer is held here: the read buffer by `#buffer`, bytes on
 * their way by their request.
 */
export class HandleConnection implements Connection, HandleOwner {
  handler: ConnectionHandler;
  closed = false;
  remoteAddress: string;
  readonly remotePort: number;
  /** Our own end, once it is known. */
  #local: SocketName | undefined;
  readonly #context: HandleContext;
  readonly #raw: TcpHandle;
  readonly #output: HandleOutput;
  /** What application data flows through: the TCP handle or OpenSSL on it. */
  #stream: StreamHandle;
  #tls: TlsLayer | undefined;
  /** The handler's. */
  #buffer: Buffer | undefined;
  /** What the stream writes into: the handler's buffer, or {@link SCRATCH}; absent before the first `readInto`. */
  #landing: Buffer | undefined;
  #inRead = false;
  /** Decrypted bytes that came after a pause: OpenSSL cannot be stopped in the middle of what it has. */
  #rest: Buffer | undefined;
  #flushing = false;
  #connected: boolean;
  /** The handler wants bytes. */
  #wanted = false;
  /** The handle reads. */
  #reading = false;
  #peerEnded = false;
  #endTold = false;
  #ending = false;
  #shutting = false;
  #shut = false;
  /** The peer's FIN is not waited for. */
  #closing = false;
  #error: WireError | undefined;
  #timer: NodeJS.Timeout | undefined;
  #client: ConnectOptions | undefined;

  private constructor(
    context: HandleContext,
    raw: TcpHandle,
    handler: ConnectionHandler,
    { remote, isConnected }: { readonly remote: SocketName; readonly isConnected: boolean },
  ) {
    this.handler = handler;
    this.remoteAddress = remote.address ?? '';
    this.remotePort = remote.port ?? 0;
    this.#context = context;
    this.#raw = raw;
    this.#connected = isConnected;
    this.#output = new HandleOutput(context, raw, this, isConnected);
    this.#stream = raw;
    raw.connection = this;
    raw.onread = onRead;
  }

  /** `local`: where it was accepted, when all connections of its listener have the same. */
  static accepted(context: HandleContext, raw: TcpHandle, local: SocketName | undefined): HandleConnection {
    const connection = new HandleConnection(context, raw, NO_HANDLER, {
      remote: remoteName(raw),
      isConnected: true,
    });
    connection.#local = local;
    return connection;
  }

  static connecting(
    context: HandleContext,
    options: ConnectOptions,
    handler: ConnectionHandler,
  ): HandleConnection {
    const { bindings } = context;
    const raw = new bindings.TCP(bindings.socketType);
    const connection = new HandleConnection(context, raw, handler, { remote: options, isConnected: false });
    connection.#client = options;
    connection.#timer = setTimeout(onTimeout, options.timeoutMs, connection, CONNECT_TIMEOUT);
    return connection;
  }

  /** Second half of `connecting`: the address is an IP address by now. */
  open(address: string, port: number): void {
    if (this.closed) return;
    this.remoteAddress = address;
    const request = newConnectRequest(this.#context.bindings, this);
    const status = isIPv6(address)
      ? this.#raw.connect6(request, address, port)
      : this.#raw.connect(request, address, port);
    if (status !== 0) this.fail(status);
  }

  get localAddress(): string {
    return this.#localName()?.address ?? '';
  }

  get localPort(): number {
    return this.#localName()?.port ?? 0;
  }

  get alpn(): string {
    return this.#tls?.alpn ?? '';
  }

  peerCertificate(): PeerCertificate | undefined {
    return this.closed ? undefined : this.#tls?.peerCertificate();
  }

  tlsSession(): TlsSession | undefined {
    return this.closed ? undefined : this.#tls?.session();
  }

  readInto(buffer: Buffer): void {
    if (buffer === this.#buffer || buffer.length === 0 || this.closed) return;
    this.#buffer = buffer;
    // The end of a read, and of a copy out of SCRATCH, tells the stream about the new buffer for nothing.
    if (this.#inRead || this.#landing === SCRATCH) return;
    this.#landing = buffer;
    this.#stream.useUserBuffer(buffer);
    this.#readOrStop();
  }

  resume(): void {
    if (this.#wanted || this.closed) return;
    this.#wanted = true;
    if (this.#rest !== undefined || (this.#peerEnded && !this.#endTold)) this.#flushLater();
    else this.#readOrStop();
  }

  pause(): void {
    if (!this.#wanted) return;
    this.#wanted = false;
    this.#readOrStop();
  }

  write(bytes: Buffer, more?: Buffer): WriteOutcome {
    return this.closed || this.#ending ? FAILED : this.#output.write(bytes, more);
  }

  writeConstant(bytes: Buffer): WriteOutcome {
    return this.closed || this.#ending ? FAILED : this.#output.writeConstant(bytes);
  }

  batchWritten(): void {
    if (this.#ending) this.#shutWhenIdle();
  }

  /** A connection that has not been asked before it closes cannot know any more. */
  #localName(): SocketName | undefined {
    if (this.#local === undefined && this.#connected && !this.closed) this.#local = localName(this.#raw);
    return this.#local;
  }

  end(): void {
    if (this.closed || this.#ending) return;
    this.#ending = true;
    this.#shutWhenIdle();
  }

  close(): void {
    this.#closing = true;
    // The kernel sends what it has taken, then FIN: no shutdown is needed.
    if (this.#shut || this.#output.isInKernel) this.#close(undefined);
    this.end();
  }

  destroy(): void {
    if (!this.closed) this.#output.flush();
    this.#close(undefined);
  }

  reset(): void {
    if (this.closed) return;
    this.#stop(undefined);
    // While a shutdown is under way libuv refuses a reset, after which Node would never close the handle.
    if (this.#shutting && !this.#shut) this.#raw.close(onClosed);
    else this.#raw.reset(onClosed);
  }

  secure(options: ServerTlsOptions, received: Buffer): void {
    if (this.closed || this.#tls !== undefined) return;
    const layer = TlsLayer.server(this.#raw, this, this.#context.bindings, options);
    this.#startTls(layer);
    if (received.length > 0) layer.stream.receive(received);
    this.#readOrStop();
  }

  /** From libuv: bytes have landed, or it is the end. Answers where the next ones shall land. */
  read(): Buffer | undefined {
    const { state, readBytesOrError } = this.#context.bindings;
    const length = state[readBytesOrError] ?? 0;
    if (length === 0 || this.closed) return undefined;
    const landing = this.#landing;
    if (length < 0 || landing === undefined) {
      this.#receivedEnd(length);
      return undefined;
    }
    const buffer = this.#buffer;
    if (!this.#wanted || buffer === undefined || this.#rest !== undefined || length > buffer.length) {
      this.#keep(landing.subarray(0, length));
      return undefined;
    }
    if (landing !== buffer) landing.copy(buffer, 0, 0, length);
    this.#inRead = true;
    this.#deliver(buffer, length);
    this.#inRead = false;
    return this.#switchLanding(landing);
  }

  connectDone(status: number): void {
    if (this.closed) return;
    if (status < 0) {
      this.fail(status);
      return;
    }
    this.#connected = true;
    this.#raw.setNoDelay(true);
    const tls = this.#client?.tls;
    if (tls === undefined) {
      if (this.#output.connected()) this.ready();
      return;
    }
    const { bindings, sessions } = this.#context;
    const layer = TlsLayer.client(this.#raw, this, bindings, { options: tls, sessions });
    this.#startTls(layer);
    this.#readOrStop();
    layer.stream.start();
  }

  writeDone(status: number): void {
    const isLast = this.#output.writeDone();
    if (status < 0) this.fail(status);
    else if (isLast) this.drained();
  }

  /** Every buffer that was `PENDING` is free. */
  drained(): void {
    if (this.closed) return;
    if (this.#output.takeDrain()) this.#tell('onDrain');
    this.#shutWhenIdle();
  }

  shutdownDone(status: number): void {
    if (status < 0) this.fail(status);
    this.#shut = true;
    if (this.#endTold || this.#closing) this.#close(undefined);
  }

  /** With an error, or with a negative errno of libuv. */
  fail(error: WireError | number): void {
    this.#close(typeof error === 'number' ? toSystemError(error) : error);
  }

  /** libuv has let go of the handle. */
  released(): void {
    // Only now: within a callback of OpenSSL it would be freed under its own feet.
    this.#tls?.stream.destroySSL();
    try {
      this.handler.onClose(this.#error);
    } catch (error) {
      this.#context.report({ code: 'ERR_HANDLER_FAULT', error });
    }
  }
  /** Connected, and the handshake is done and the peer is who it should be. */
  ready(): void {
    clearTimeout(this.#timer);
    this.#tell(this.#client === undefined ? 'onSecure' : 'onConnect');
    this.#readOrStop();
    if (this.#output.isDrained) this.drained();
  }

  #startTls(layer: TlsLayer): void {
    this.#tls = layer;
    this.#stream = layer.stream;
    layer.stream.onread = onRead;
    layer.stream.useUserBuffer(SCRATCH);
    this.#landing = SCRATCH;
    this.#output.secure(layer);
  }

  #readOrStop(): void {
    const handshaking = this.#tls !== undefined && !this.#tls.secured;
    const wanted = this.#wanted && this.#buffer !== undefined && this.#rest === undefined;
    const read = (handshaking || wanted) && this.#connected && !this.#peerEnded;
    if (read === this.#reading || this.closed) return;
    this.#reading = read;
    const status = read ? this.#stream.readStart() : this.#stream.readStop();
    if (status !== 0) this.fail(status);
  }

  #receivedEnd(status: number): void {
    this.#reading = false;
    const handshaking = this.#tls !== undefined && !this.#tls.secured;
    if (handshaking || status !== UV_EOF) {
      this.fail(status === UV_EOF ? HANDSHAKE_CUT : status);
      return;
    }
    this.#peerEnded = true;
    if (this.#wanted && this.#rest === undefined) this.#tellEnd();
  }

  #deliver(buffer: Buffer, length: number): void {
    try {
      this.handler.onRead(buffer, length);
    } catch (error) {
      this.#fault(error);
    }
  }

  #tell(event: 'onConnect' | 'onSecure' | 'onDrain' | 'onEnd'): void {
    try {
      this.handler[event]();
    } catch (error) {
      this.#fault(error);
    }
  }

  #switchLanding(landing: Buffer): Buffer | undefined {
    // OpenSSL goes on with what it has, although paused: not into a buffer that the handler may be writing from.
    const next = this.#tls !== undefined && !this.#wanted ? SCRATCH : this.#buffer;
    if (next === landing) return undefined;
    this.#landing = next;
    return next;
  }

  #tellEnd(): void {
    if (this.#endTold || this.closed) return;
    this.#endTold = true;
    this.#tell('onEnd');
    if (this.#shut) this.#close(undefined);
  }

  #keep(bytes: Buffer): void {
    this.#rest = this.#rest === undefined ? Buffer.from(bytes) : Buffer.concat([this.#rest, bytes]);
    if (this.#wanted) this.#flushLater();
  }

  /** Bytes that waited are delivered from a fresh stack: callbacks never run within `resume`. */
  #flushLater(): void {
    if (this.#flushing) return;
    this.#flushing = true;
    process.nextTick(flush, this);
  }

  flush(): void {
    this.#flushing = false;
    const rest = this.#rest;
    let offset = 0;
    while (rest !== undefined && offset < rest.length && this.#wanted && !this.closed) {
      const buffer = this.#buffer;
      if (buffer === undefined) return;
      const length = rest.copy(buffer, 0, offset);
      offset += length;
      this.#rest = offset < rest.length ? rest.subarray(offset) : undefined;
      this.#deliver(buffer, length);
    }
    if (this.#peerEnded && this.#wanted && this.#rest === undefined) this.#tellEnd();
    else this.#readOrStop();
  }

  #shutWhenIdle(): void {
    if (!this.#ending || this.closed) return;
    if (this.#closing && this.#connected && this.#output.isInKernel) {
      this.#close(undefined);
      return;
    }
    if (this.#shutting || !this.#output.mayShut) return;
    this.#shutting = true;
    const status = this.#stream.shutdown(newShutdownRequest(this.#context.bindings, this));
    if (status === 1) this.shutdownDone(0);
    else if (status < 0) this.fail(status);
  }

  #fault(error: unknown): void {
    this.#context.report({ code: 'ERR_HANDLER_FAULT', error });
    this.#close({ code: 'ERR_HANDLER_FAULT', message: messageOf(error) });
  }

  #close(error: WireError | undefined): void {
    if (this.closed) return;
    this.#stop(error);
    this.#raw.close(onClosed);
  }

  #stop(error: WireError | undefined): void {
    this.closed = true;
    this.#error = error;
    this.#rest = undefined;
    clearTimeout(this.#timer);
  }
}

/**
 * Where bytes of TLS connections land when the handler's buffer must not be touched; copied out at once. One for each
 * thread: a read is consumed before the next one starts.
 */
const SCRATCH = Buffer.allocUnsafeSlow(64 * 1024);
