import type { RequestTerms } from './request-terms.js';
import { currentAge, type StoredResponse } from './stored-response.js';

/**
 * Whether a stored response may answer now: `fresh`; `stale-allowed`: stale, and the client takes it;
 * `revalidate-behind`: stale, but may be served while it is validated (RFC 5861 §3); `validate`: ask first.
 */
export type Usability = 'fresh' | 'stale-allowed' | 'revalidate-behind' | 'validate';

export interface FreshnessContext {
  readonly nowMs: number;
  readonly request: RequestTerms;
  /** The policy's upper bound of a lifetime, in ms. */
  readonly maxTtlMs: number | undefined;
}

/** How much longer it is fresh, in ms; negative: how long it has been stale. */
export function remainingMs(
  stored: StoredResponse,
  { nowMs, maxTtlMs = Infinity }: FreshnessContext,
): number {
  return Math.min(stored.terms.lifetimeMs, maxTtlMs) - currentAge(stored, nowMs);
}

/** RFC 9111 §4.2, §5.2.1. */
export function usabilityOf(stored: StoredResponse, context: FreshnessContext): Usability {
  const { request, nowMs } = context;
  const { terms } = stored;
  if (request.noCache || terms.alwaysValidate) return 'validate';
  if (request.maxAgeMs !== undefined && currentAge(stored, nowMs) > request.maxAgeMs) return 'validate';
  const remaining = remainingMs(stored, context);
  if (remaining > 0) return remaining < request.minFreshMs ? 'validate' : 'fresh';
  return request.minFreshMs > 0 || terms.mustRevalidate
    ? 'validate'
    : staleUsability(-remaining, stored, request);
}

function staleUsability(staleMs: number, { terms }: StoredResponse, request: RequestTerms): Usability {
  if (staleMs <= terms.staleWhileRevalidateMs && terms.staleWhileRevalidateMs > 0) return 'revalidate-behind';
  return request.maxStaleMs > 0 && staleMs <= request.maxStaleMs ? 'stale-allowed' : 'validate';
}

/** RFC 5861 §4: whether it may stand in for an answer that failed. */
export function standsInForError(stored: StoredResponse, context: FreshnessContext): boolean {
  const { terms } = stored;
  if (terms.mustRevalidate || terms.alwaysValidate || context.request.noCache) return false;
  const allowedMs = Math.max(terms.staleIfErrorMs, context.request.maxStaleMs);
  return allowedMs > 0 && -remainingMs(stored, context) <= allowedMs;
}
