/** Stable codes of the errors that the operator throws on purpose; the text beside a code is for people. */
export type ErrorCode =
  | 'ERR_CONFIG_INVALID'
  | 'ERR_USAGE'
  | 'ERR_ENVIRONMENT'
  | 'ERR_WATCH_EXPIRED'
  | 'ERR_WATCH_BROKEN'
  | 'ERR_API'
  | 'ERR_CONFLICT'
  | 'ERR_LISTENER_BIND'
  | 'ERR_CONFIG_REJECTED'
  | 'ERR_WIRE_UNAVAILABLE'
  | 'ERR_WORKER_LOST';

/** Base of every error the operator throws on purpose. Faults of users are Conditions and are never thrown. */
export class OperatorError extends Error {
  constructor(
    readonly code: ErrorCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** The text of anything that was caught. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
