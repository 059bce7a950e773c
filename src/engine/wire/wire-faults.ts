import { getSystemErrorMap } from 'node:util';
import { messageOf } from '../../util/errors.js';
import type { ConnectionHandler, WireError } from './wire.js';

/** Why a socket could not be bound; `code` is the system's (`EADDRINUSE`). */
export class ListenError extends Error {
  constructor(
    readonly code: string,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.name = 'ListenError';
  }
}

/** Code and text of anything that a socket or the TLS layer has thrown or emitted. */
export function toWireError(error: unknown): WireError {
  return { code: codeOf(error), message: messageOf(error) };
}

/** From libuv's negative errno. */
export function toSystemError(status: number): WireError {
  systemErrors ??= getSystemErrorMap();
  const [code, message] = systemErrors.get(status) ?? ['ERR_UNKNOWN', `error ${status}`];
  return { code, message };
}

/** Node makes all of it anew for each who asks. */
let systemErrors: ReadonlyMap<number, readonly [string, string]> | undefined;

/** The stable code of an error, `ERR_UNKNOWN` when it has none. */
export function codeOf(error: unknown): string {
  if (error instanceof Error && 'code' in error && typeof error.code === 'string') return error.code;
  return 'ERR_UNKNOWN';
}

/** What a connection starts with: nobody wants its bytes, and it is never resumed. */
export const NO_HANDLER: ConnectionHandler = {
  onConnect: ignore,
  onSecure: ignore,
  onRead: ignore,
  onEnd: ignore,
  onDrain: ignore,
  onClose: ignore,
};

function ignore(): void {
  // The connection's owner has not been set yet.
}

export const HANDSHAKE_CUT: WireError = {
  code: 'ECONNRESET',
  message: 'the peer closed before the TLS handshake was complete',
};

export const NO_CLIENT_CERTIFICATE: WireError = {
  code: 'UNABLE_TO_GET_ISSUER_CERT',
  message: 'the client has shown no certificate',
};

export const CONNECT_TIMEOUT: WireError = {
  code: 'ETIMEDOUT',
  message: 'the connection was not made in time',
};
