import type { RetryPolicy } from '../../ir/http.js';
import type { UpstreamFailure } from './upstream.js';

/** Pause before a retry where the policy gives none. */
export const DEFAULT_BACKOFF_MS = 25;
/** Other endpoints that are tried at once when one cannot be connected to and no policy says otherwise. */
const MAX_FAILOVERS = 2;
/** Largest request body that is kept to be sent again. */
const MAX_REPLAY_BYTES = 64 * 1024;

/** Methods that may be sent twice (RFC 9110 section 9.2.2). */
const IDEMPOTENT: ReadonlySet<string> = new Set(['GET', 'HEAD', 'PUT', 'DELETE', 'OPTIONS', 'TRACE']);

/** What is known when an attempt has failed. */
export interface AttemptOutcome {
  readonly failure: UpstreamFailure;
  readonly method: string;
  /** The connection had served another request. */
  readonly reused: boolean;
  /** Attempts made by the policy or as failover, the failed one included; replacements of dead connections are not. */
  readonly attempts: number;
  /** A dead connection was replaced before. */
  readonly replaced: boolean;
}

/**
 * - `give-up`: the client is told.
 * - `replace`: again at once, on a fresh connection to the same endpoint: the old one was dead already.
 * - `failover`: again at once, at another endpoint: nothing was sent yet.
 * - `retry`: again after the policy's pause.
 */
export type RetryDecision = 'give-up' | 'replace' | 'failover' | 'retry';

function isIdempotent(method: string): boolean {
  return IDEMPOTENT.has(method);
}

/** Whether another attempt is thinkable, for which the body of the request is kept. */
export function mayReplay(
  { bytes, done }: { readonly bytes: number; readonly done: boolean },
  policy: RetryPolicy | undefined,
  method: string,
): boolean {
  if (done && bytes === 0) return false;
  return bytes <= MAX_REPLAY_BYTES && (policy !== undefined || isIdempotent(method));
}

/** What to do after a failed attempt whose request can be sent again. */
export function decideRetry(policy: RetryPolicy | undefined, outcome: AttemptOutcome): RetryDecision {
  const { failure, attempts } = outcome;
  if (failure.kind === 'early' && outcome.reused && !outcome.replaced && isIdempotent(outcome.method)) {
    return 'replace';
  }
  if (!policy) return failure.kind === 'connect' && attempts <= MAX_FAILOVERS ? 'failover' : 'give-up';
  // GEP-1731: connection errors and timeouts are retried whatever the codes are.
  const isRetriable = failure.kind === 'connect' || failure.kind === 'early' || failure.kind === 'timeout';
  return isRetriable && attempts <= policy.attempts ? 'retry' : 'give-up';
}

/** Whether an answer with this status is to be asked for again. */
export function isRetriedStatus(policy: RetryPolicy | undefined, status: number, attempts: number): boolean {
  return policy !== undefined && attempts <= policy.attempts && policy.codes.includes(status);
}

/** What the client is told. A connection that cannot be made is 503, never 502. */
export function statusOf(failure: UpstreamFailure): number {
  switch (failure.kind) {
    case 'timeout':
      return 504;
    case 'protocol':
    case 'truncated':
      return 502;
    default:
      return 503;
  }
}
