export interface BackoffLimits {
  readonly initialMs: number;
  readonly maxMs: number;
}

/** What a failing list or watch waits. */
export const DEFAULT_BACKOFF: BackoffLimits = { initialMs: 250, maxMs: 30_000 };

/**
 * Doubles with each failure in a row, up to a limit. Half of it is random, so that many clients that failed
 * together do not come back together.
 */
export function backoffMs(failures: number, limits: BackoffLimits, random: () => number): number {
  const full = Math.min(limits.maxMs, limits.initialMs * 2 ** Math.min(failures, 30));
  return Math.round(full * (0.5 + random() / 2));
}
