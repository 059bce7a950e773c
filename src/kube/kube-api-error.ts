import { OperatorError, type ErrorCode } from '../util/errors.js';
import { numberAt, textAt } from './json.js';

export interface KubeApiFailure {
  /** HTTP status, 0 when no answer came. */
  readonly status: number;
  /** `reason` of the API server's Status object, for example `Expired` or `AlreadyExists`. */
  readonly reason: string;
  /** From the `Retry-After` header or the Status details. */
  readonly retryAfterMs?: number;
  readonly cause?: unknown;
}

/** A request that the API server refused or never answered. */
export class KubeApiError extends OperatorError {
  readonly status: number;
  readonly reason: string;
  readonly retryAfterMs: number | undefined;

  constructor(message: string, failure: KubeApiFailure) {
    super(codeOf(failure.status), message, { cause: failure.cause });
    this.status = failure.status;
    this.reason = failure.reason;
    this.retryAfterMs = failure.retryAfterMs;
  }
}

/** A watch that cannot go on where it was, although the connection may be fine: only a new list helps. */
export class WatchBrokenError extends OperatorError {
  constructor(
    /** Label of the error metric. */
    readonly reason: 'malformed' | 'error-event' | 'no-version',
    message: string,
  ) {
    super('ERR_WATCH_BROKEN', message);
  }
}

/** Makes the error of an answer that is not a success; `body` is a Status object when the API server made it. */
export function refusal(request: string, status: number, body: unknown, retryAfter?: string): KubeApiError {
  const reason = textAt(body, 'reason') ?? '';
  const message = textAt(body, 'message') ?? `status ${status}`;
  const seconds = Number(retryAfter ?? numberAt(body, 'details', 'retryAfterSeconds') ?? NaN);
  return new KubeApiError(`${request}: ${message}`, {
    status,
    reason: reason === '' ? String(status) : reason,
    ...(Number.isFinite(seconds) && seconds >= 0 ? { retryAfterMs: seconds * 1000 } : {}),
  });
}

export function isStatus(error: unknown, status: number): error is KubeApiError {
  return error instanceof KubeApiError && error.status === status;
}

function codeOf(status: number): ErrorCode {
  if (status === 410) return 'ERR_WATCH_EXPIRED';
  if (status === 409) return 'ERR_CONFLICT';
  return 'ERR_API';
}
