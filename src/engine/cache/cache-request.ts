import type { Exchange } from '../exchange/exchange.js';
import { FieldList, FieldNames, type Fields } from '../exchange/fields.js';
import type { CachePlan } from './cache-plan.js';
import type { CacheResult } from './cache-result.js';
import type { CacheStore } from './cache-store.js';
import type { Hit } from './hit-server.js';
import type { RequestTerms } from './request-terms.js';
import type { StoredResponse } from './stored-response.js';
import { type FreshnessContext, remainingMs } from './usability.js';

/** A GET or HEAD that the store is asked for. */
export interface CacheRequest {
  readonly exchange: Exchange;
  readonly plan: CachePlan;
  readonly store: CacheStore;
  readonly key: string;
  readonly terms: RequestTerms;
  /** The request has Authorization. */
  readonly authorized: boolean;
  /** It has none of {@link SPECIAL}. */
  readonly isPlain: boolean;
}

/** A GET without any of these is answered by whatever is fresh. */
export const SPECIAL = new FieldNames([
  'authorization',
  'cache-control',
  'if-match',
  'if-modified-since',
  'if-none-match',
  'if-range',
  'if-unmodified-since',
  'pragma',
  'range',
]);

const CONDITIONS = ['if-none-match', 'if-modified-since', 'range', 'if-range'] as const;

/** Takes the client's conditions off the request: what the backend answers to it is for the store as well. */
export function takeConditions(request: Fields): FieldList {
  const taken = new FieldList();
  for (const name of CONDITIONS) {
    for (const value of request.getAll(name)) taken.add(name, value);
    request.remove(name);
  }
  return taken;
}

/** Asks the backend to say only whether the stored response is still the current one (RFC 9111 §4.3.1). */
export function addValidators(request: Fields, { etag, lastModified }: StoredResponse): void {
  if (etag !== undefined) request.set('if-none-match', etag);
  if (lastModified !== undefined) request.set('if-modified-since', lastModified);
}

export function freshnessContext({ terms, plan }: CacheRequest, nowMs: number): FreshnessContext {
  return { nowMs, request: terms, maxTtlMs: plan.policy.maxTtlMs };
}

/** A stored response as the answer to a request. */
export function hitOf(
  request: CacheRequest,
  stored: StoredResponse,
  {
    status,
    cacheStatus,
    conditions,
    nowMs,
  }: CacheResult & { readonly conditions: Fields; readonly nowMs: number },
): Hit {
  return {
    status,
    cacheStatus,
    store: request.store,
    stored,
    resultHeader: request.plan.policy.resultHeader,
    remainingMs: remainingMs(stored, freshnessContext(request, nowMs)),
    conditions,
    isUnconditional: request.isPlain,
    nowMs,
  };
}
