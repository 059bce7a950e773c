import { isIPv6 } from 'node:net';
import { HandledConnection } from './handled-connection.js';
import type { HandleOwner, SocketName, TcpHandle } from './handle-bindings.js';
import {
  localName,
  remoteName,
  newConnectRequest,
  newShutdownRequest,
  onClosed,
  onTimeout,
} from './handle-callbacks.js';
import { HandleInput } from './handle-input.js';
import { HandleOutput, type OutputContext } from './handle-output.js';
import { TlsLayer } from './handle-tls.js';
import type { ClientSessions } from './tls/client-sessions.js';
import { CONNECT_TIMEOUT, NO_HANDLER, toSystemError } from './wire-faults.js';
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
 * the kernel may still call. What libuv knows only as a pointer is held too: the read buffer by `#input`, bytes on
 * their way by their request.
 */
export class HandleConnection extends HandledConnection implements Connection, HandleOwner {
  closed = false;
  isConnected: boolean;
  remoteAddress: string;
  readonly remotePort: number;
  /** Our own end, once it is known. */
  #local: SocketName | undefined;
  readonly #context: HandleContext;
  readonly #raw: TcpHandle;
  readonly #input: HandleInput;
  readonly #output: HandleOutput;
  #tls: TlsLayer | undefined;
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
    super(handler, context.report);
    this.remoteAddress = remote.address ?? '';
    this.remotePort = remote.port ?? 0;
    this.#context = context;
    this.#raw = raw;
    this.isConnected = isConnected;
    raw.connection = this;
    this.#input = new HandleInput(context.bindings, raw, this);
    this.#output = new HandleOutput(context, raw, this);
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
    this.#input.readInto(buffer);
  }

  resume(): void {
    this.#input.resume();
  }

  pause(): void {
    this.#input.pause();
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
    if (this.#local === undefined && this.isConnected && !this.closed) this.#local = localName(this.#raw);
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
    this.#input.readOrStop();
  }

  connectDone(status: number): void {
    if (this.closed) return;
    if (status < 0) {
      this.fail(status);
      return;
    }
    this.isConnected = true;
    this.#raw.setNoDelay(true);
    const tls = this.#client?.tls;
    if (tls === undefined) {
      if (this.#output.connected()) this.ready();
      return;
    }
    const { bindings, sessions } = this.#context;
    const layer = TlsLayer.client(this.#raw, this, bindings, { options: tls, sessions });
    this.#startTls(layer);
    this.#input.readOrStop();
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
    if (this.#output.takeDrain()) this.tell('onDrain');
    this.#shutWhenIdle();
  }

  shutdownDone(status: number): void {
    if (status < 0) this.fail(status);
    this.#shut = true;
    if (this.#input.isEndTold || this.#closing) this.#close(undefined);
  }

  /** With an error, or with a negative errno of libuv. */
  fail(error: WireError | number): void {
    this.#close(typeof error === 'number' ? toSystemError(error) : error);
  }

  ended(): void {
    this.tell('onEnd');
    if (this.#shut) this.#close(undefined);
  }

  /** libuv has let go of the handle. */
  released(): void {
    // Only now: within a callback of OpenSSL it would be freed under its own feet.
    this.#tls?.stream.destroySSL();
    this.tellClose(this.#error);
  }

  /** Connected, and the handshake is done and the peer is who it should be. */
  ready(): void {
    clearTimeout(this.#timer);
    this.tell(this.#client === undefined ? 'onSecure' : 'onConnect');
    this.#input.readOrStop();
    if (this.#output.isDrained) this.drained();
  }

  #startTls(layer: TlsLayer): void {
    this.#tls = layer;
    this.#input.secure(layer);
    this.#output.secure(layer);
  }

  #shutWhenIdle(): void {
    if (!this.#ending || this.closed) return;
    if (this.#closing && this.isConnected && this.#output.isInKernel) {
      this.#close(undefined);
      return;
    }
    if (this.#shutting || !this.#output.mayShut) return;
    this.#shutting = true;
    const stream = this.#tls?.stream ?? this.#raw;
    const status = stream.shutdown(newShutdownRequest(this.#context.bindings, this));
    if (status === 1) this.shutdownDone(0);
    else if (status < 0) this.fail(status);
  }

  #close(error: WireError | undefined): void {
    if (this.closed) return;
    this.#stop(error);
    this.#raw.close(onClosed);
  }

  #stop(error: WireError | undefined): void {
    this.closed = true;
    this.#error = error;
    this.#input.drop();
    clearTimeout(this.#timer);
  }
}
