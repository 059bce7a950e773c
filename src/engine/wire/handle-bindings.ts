/**
 * The shapes of libuv's handles as `process.binding` gives them on Node 24. This is the only file that touches it:
 * when Node takes it away or changes it, {@link loadBindings} says so and the `net` wire serves.
 */
import { messageOf } from '../../util/errors.js';
import type { WireError } from './wire.js';

/** A connection, as what it hangs on calls it. */
export interface HandleOwner {
  /** The TCP connection is there. */
  readonly isConnected: boolean;
  readonly closed: boolean;
  connectDone(status: number): void;
  writeDone(status: number): void;
  shutdownDone(status: number): void;
  /** Nothing of it waits for the end of the turn any more. */
  batchWritten(): void;
  /** Connected, and with TLS the handshake is done and the peer is who it should be. */
  ready(): void;
  /** Every buffer that was `PENDING` is free. */
  drained(): void;
  /** With an error, or with a negative errno of libuv. */
  fail(error: WireError | number): void;
  /** `length` bytes are at the start of the handler's buffer. */
  received(buffer: Buffer, length: number): void;
  /** The peer sent FIN, and everything before it was received. */
  ended(): void;
  /** libuv has let go of the handle. */
  released(): void;
}

/** The reading side of a connection, as libuv calls it. */
export interface StreamReader {
  /** Bytes have landed, or it is the end; answers where the next ones shall land. */
  read(): Buffer | undefined;
}

/** The TLS layer of a connection, as OpenSSL calls it. */
export interface TlsOwner {
  handshakeDone(): void;
  newSession(session: Buffer): void;
  written(status: number): void;
}

export interface SocketName {
  address?: string;
  family?: string;
  port?: number;
}

/** What TCP and TLS streams share. Numbers that are returned are 0 or a negative errno. */
export interface StreamHandle {
  /** Called with `this` = the handle; may return the buffer that the next bytes shall land in. */
  onread: (this: StreamHandle) => Buffer | undefined;
  /** Ours: set before any callback can come. */
  connection: HandleOwner;
  /** Ours, likewise. */
  reader: StreamReader;
  readStart(): number;
  readStop(): number;
  useUserBuffer(buffer: Buffer): number;
  writeBuffer(request: WriteRequest, bytes: Buffer): number;
  writev(request: WriteRequest, chunks: readonly Buffer[], allBuffers: true): number;
  shutdown(request: ShutdownRequest): number;
}

export interface TcpHandle extends StreamHandle {
  onconnection: (this: TcpHandle, status: number, client: TcpHandle | undefined) => void;
  bind(address: string, port: number, flags: number): number;
  bind6(address: string, port: number, flags: number): number;
  listen(backlog: number): number;
  connect(request: ConnectRequest, address: string, port: number): number;
  connect6(request: ConnectRequest, address: string, port: number): number;
  getsockname(name: SocketName): number;
  getpeername(name: SocketName): number;
  setNoDelay(on: boolean): number;
  reset(closed: (this: TcpHandle) => void): number;
  close(closed: (this: TcpHandle) => void): void;
}

/**
 * OpenSSL between a TCP handle and us. After `destroySSL` every other method would abort the process. The object is
 * weak: whoever uses it must hold it.
 */
export interface TlsHandle extends StreamHandle {
  /** Ours. */
  layer: TlsOwner;
  onhandshakedone: (this: TlsHandle) => void;
  onerror: (this: TlsHandle, error: unknown) => void;
  onnewsession: (this: TlsHandle, id: Buffer, session: Buffer) => void;
  setVerifyMode(request: boolean, reject: boolean): void;
  setALPNProtocols(protocols: Buffer): void;
  setServername(name: string): void;
  setSession(session: Buffer): void;
  enableSessionCallbacks(): void;
  receive(bytes: Buffer): void;
  /** Clients only: sends the ClientHello. */
  start(): void;
  verifyError(): unknown;
  getALPNNegotiatedProtocol(): string | false;
  getProtocol(): string;
  getCipher(): { readonly name: string };
  isSessionReused(): boolean;
  /** Never `getPeerX509Certificate`: on a client that one takes the leaf out of the chain, so it works once. */
  getPeerCertificate(detailed: boolean): { readonly raw?: Buffer } | undefined;
  destroySSL(): void;
}

export interface WriteRequest {
  oncomplete: (this: WriteRequest, status: number) => void;
  /** The owner of a plain write. */
  connection: HandleOwner | undefined;
  /** The owner of a TLS write. */
  layer: TlsOwner | undefined;
  /** Held until the kernel has them: libuv keeps bare pointers. */
  bytes: Buffer | undefined;
  more: Buffer | undefined;
}

export interface ConnectRequest {
  oncomplete: (this: ConnectRequest, status: number) => void;
  connection: HandleOwner;
}

export interface ShutdownRequest {
  oncomplete: (this: ShutdownRequest, status: number) => void;
  connection: HandleOwner;
}

export interface HandleBindings {
  readonly TCP: new (type: number) => TcpHandle;
  readonly TCPConnectWrap: new () => ConnectRequest;
  readonly WriteWrap: new () => WriteRequest;
  readonly ShutdownWrap: new () => ShutdownRequest;
  readonly wrapTls: (stream: TcpHandle, context: unknown, isServer: boolean, writing: boolean) => TlsHandle;
  readonly socketType: number;
  readonly serverType: number;
  readonly reusePortFlag: number;
  /** Results of the last call, at the indexes below. */
  readonly state: Int32Array;
  readonly readBytesOrError: number;
  readonly lastWriteWasAsync: number;
}

/** libuv's end of file. */
export const UV_EOF = -4095;

let loaded: HandleBindings | undefined;

/** The bindings, or an error that names what is missing on this Node. Loaded once for each thread. */
export function loadBindings(): HandleBindings {
  loaded ??= findBindings(Reflect.get(process, 'binding'));
  return loaded;
}

/** Takes what they come from, `process.binding`, so that its absence can be tested. */
export function findBindings(get: unknown): HandleBindings {
  const tcp = binding(get, 'tcp_wrap');
  const stream = binding(get, 'stream_wrap');
  const tls = binding(get, 'tls_wrap');
  const constants = recordOf(tcp, 'constants');
  const TCP = functionOf(tcp, 'TCP');
  const TLSWrap = functionOf(tls, 'TLSWrap');
  requireMethods(TCP, [...STREAM_METHODS, ...TCP_METHODS]);
  requireMethods(TLSWrap, [...STREAM_METHODS, ...TLS_METHODS]);
  const state = stream['streamBaseState'];
  if (!(state instanceof Int32Array)) throw new Error('stream_wrap.streamBaseState is not an Int32Array');

  const bindings = {
    TCP,
    TCPConnectWrap: functionOf(tcp, 'TCPConnectWrap'),
    WriteWrap: functionOf(stream, 'WriteWrap'),
    ShutdownWrap: functionOf(stream, 'ShutdownWrap'),
    wrapTls: functionOf(tls, 'wrap'),
    socketType: numberOf(constants, 'SOCKET'),
    serverType: numberOf(constants, 'SERVER'),
    reusePortFlag: numberOf(constants, 'UV_TCP_REUSEPORT'),
    state,
    readBytesOrError: numberOf(stream, 'kReadBytesOrError'),
    lastWriteWasAsync: numberOf(stream, 'kLastWriteWasAsync'),
  };
  // Node does not describe these objects: names were checked above, behaviour is checked by the self-test.
  return bindings as unknown as HandleBindings;
}

const STREAM_METHODS = ['readStart', 'readStop', 'useUserBuffer', 'writeBuffer', 'writev', 'shutdown'];
const TCP_METHODS = [
  ...['bind', 'bind6', 'listen', 'connect', 'connect6', 'getsockname', 'getpeername', 'setNoDelay'],
  ...['reset', 'close'],
];
const TLS_METHODS = [
  ...[
    'setVerifyMode',
    'setALPNProtocols',
    'setServername',
    'setSession',
    'enableSessionCallbacks',
    'receive',
  ],
  ...['start', 'verifyError', 'getALPNNegotiatedProtocol', 'getProtocol', 'getCipher', 'isSessionReused'],
  ...['getPeerCertificate', 'destroySSL'],
];

type Module = Readonly<Record<string, unknown>>;
type AnyFunction = (...values: readonly unknown[]) => unknown;

function binding(get: unknown, name: string): Module {
  if (typeof get !== 'function') throw new Error('process.binding is gone');
  try {
    const module: unknown = Reflect.apply(get, process, [name]);
    if (isRecord(module)) return module;
  } catch (error) {
    throw new Error(`process.binding('${name}'): ${messageOf(error)}`, { cause: error });
  }
  throw new Error(`process.binding('${name}') gives no object`);
}

function isRecord(value: unknown): value is Module {
  return typeof value === 'object' && value !== null;
}

function recordOf(module: Module, name: string): Module {
  const value = module[name];
  if (!isRecord(value)) throw new Error(`${name} is missing`);
  return value;
}

function functionOf(module: Module, name: string): AnyFunction {
  const value = module[name];
  if (!isFunction(value)) throw new Error(`${name} is missing`);
  return value;
}

function isFunction(value: unknown): value is AnyFunction {
  return typeof value === 'function';
}

function numberOf(module: Module, name: string): number {
  const value = module[name];
  if (typeof value !== 'number') throw new Error(`${name} is missing`);
  return value;
}

function requireMethods(constructor: AnyFunction, names: readonly string[]): void {
  const prototype: unknown = constructor.prototype;
  const missing = names.filter((name) => !isRecord(prototype) || !isFunction(prototype[name]));
  if (missing.length > 0) throw new Error(`${constructor.name} lacks ${missing.join(', ')}`);
}
