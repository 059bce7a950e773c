/**
 * What libuv calls. Plain functions that find their connection through the native object, so that a connection costs
 * no closures and every call site stays monomorphic.
 */
import type {
  ConnectRequest,
  HandleBindings,
  HandleOwner,
  ShutdownRequest,
  SocketName,
  StreamHandle,
  TcpHandle,
  WriteRequest,
} from './handle-bindings.js';
import type { WireError } from './wire.js';

/** A request that is free for the next write of any connection. */
export function newWriteRequest(bindings: HandleBindings): WriteRequest {
  const request = new bindings.WriteWrap();
  request.oncomplete = onWritten;
  request.connection = undefined;
  request.layer = undefined;
  request.bytes = undefined;
  request.more = undefined;
  return request;
}

/** What plain writes share. */
export interface WriteContext {
  readonly bindings: HandleBindings;
  /** A request that the next write may use: a write that completes at once leaves it free. */
  freeWrite: WriteRequest;
}

/** 0: the kernel has everything. 1: the rest is on its way, and held until then. Negative: the system's error number. */
export function startWrite(raw: TcpHandle, context: WriteContext, bytes: Buffer, more?: Buffer): number {
  const { bindings, freeWrite } = context;
  const status =
    more === undefined ? raw.writeBuffer(freeWrite, bytes) : raw.writev(freeWrite, [bytes, more], true);
  if (status !== 0 || bindings.state[bindings.lastWriteWasAsync] === 0) return status;
  freeWrite.connection = raw.connection;
  freeWrite.bytes = bytes;
  freeWrite.more = more;
  context.freeWrite = newWriteRequest(bindings);
  return 1;
}

export function newConnectRequest(bindings: HandleBindings, connection: HandleOwner): ConnectRequest {
  const request = new bindings.TCPConnectWrap();
  request.connection = connection;
  request.oncomplete = onConnected;
  return request;
}

export function newShutdownRequest(bindings: HandleBindings, connection: HandleOwner): ShutdownRequest {
  const request = new bindings.ShutdownWrap();
  request.connection = connection;
  request.oncomplete = onShutdown;
  return request;
}

export function onRead(this: StreamHandle): Buffer | undefined {
  return this.reader.read();
}

export function onWritten(this: WriteRequest, status: number): void {
  this.bytes = undefined;
  this.more = undefined;
  this.connection?.writeDone(status);
}

function onConnected(this: ConnectRequest, status: number): void {
  this.connection.connectDone(status);
}

function onShutdown(this: ShutdownRequest, status: number): void {
  this.connection.shutdownDone(status);
}

export function onClosed(this: TcpHandle): void {
  this.connection.released();
}

export function onTimeout(connection: HandleOwner, error: WireError): void {
  connection.fail(error);
}

export function localName(handle: TcpHandle): SocketName {
  const name: SocketName = {};
  handle.getsockname(name);
  return name;
}

/** Whom an accepted handle belongs to; valid until the next call. Empty when the peer is gone already. */
export function remoteName(handle: TcpHandle): SocketName {
  return handle.getpeername(peer) === 0 ? peer : UNKNOWN;
}

/** One for all, complete from the start: filling it in changes no shape. */
const peer: SocketName = { address: '', family: '', port: 0 };
const UNKNOWN: SocketName = {};
