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
  return request;
}

export function onRead(this: StreamHandle): Buffer | undefined {
  return this.connection.read();
}

export function onWritten(this: WriteRequest, status: number): void {
  this.bytes = undefined;
  this.connection?.writeDone(status);
}

export function onConnected(this: ConnectRequest, status: number): void {
  this.connection.connectDone(status);
}

export function onShutdown(this: ShutdownRequest, status: number): void {
  this.connection.shutdownDone(status);
}

export function onClosed(this: TcpHandle): void {
  this.connection.released();
}

export function onTimeout(connection: HandleOwner, error: WireError): void {
  connection.fail(error);
}

export function flush(connection: HandleOwner): void {
  connection.flush();
}

export function localName(handle: TcpHandle): SocketName {
  const name: SocketName = {};
  handle.getsockname(name);
  return name;
}
