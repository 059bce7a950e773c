import type { Exchange } from '../exchange/exchange.js';
import type { Fields } from '../exchange/fields.js';
import type { ResponseHead } from '../exchange/heads.js';
import type { Piece } from '../exchange/piece.js';
import { RELAY, type ResponseTap, SWALLOW, type TapVerdict } from '../exchange/response-cache.js';
import { cacheUriOf } from './cache-key.js';
import { type CacheRequest, freshnessContext, hitOf } from './cache-request.js';
import { type CacheResult, resultFields } from './cache-result.js';
import type { BodyWriter } from './cache-store.js';
import { isNotModified, toNotModified } from './conditional.js';
import { describeResponse } from './describe-response.js';
import type { Flight } from './flight.js';
import type { HitServer } from './hit-server.js';
import { renewedResponse } from './renewed-response.js';
import { assess } from './storability.js';
import type { StoredResponse } from './stored-response.js';
import { standsInForError } from './usability.js';

/** What a fetch is for. */
export interface Fetch {
  readonly request: CacheRequest;
  /** What the backend was asked to validate. */
  readonly stale: StoredResponse | undefined;
  /** The client's conditions that were taken off the forwarded request. */
  readonly conditions: Fields;
  /** Those who wait for it. */
  readonly flight: Flight | undefined;
  /** Parameter `fwd` of Cache-Status: why the store could not answer. */
  readonly reason: string;
  /** Nobody but the store wants the answer (stale-while-revalidate). */
  readonly isBackground: boolean;
  readonly requestedAtMs: number;
}

interface FetchServices {
  readonly now: () => number;
  readonly hits: HitServer;
  /** The answer to this fetch was not for the store, so the next ones need not wait for each other. */
  readonly onUncacheable: (request: CacheRequest) => void;
}

/** RFC 5861 §4. */
const ERRORS: ReadonlySet<number> = new Set([500, 502, 503, 504]);

/** Stores the answer to a GET while it passes, or renews what was stored. */
export class FetchTap implements ResponseTap {
  readonly #fetch: Fetch;
  readonly #services: FetchServices;
  #writer: BodyWriter | undefined;
  #description: Omit<StoredResponse, 'length'> | undefined;
  #written = 0;
  /** Leased, so that what is validated can be served even when it is evicted meanwhile. */
  #staleBody: Buffer | undefined;
  /** Undefined once the others have been told. */
  #flight: Flight | undefined;

  constructor(fetch: Fetch, services: FetchServices) {
    this.#fetch = fetch;
    this.#services = services;
    this.#flight = fetch.flight;
    this.#staleBody = fetch.stale && fetch.request.store.lease(fetch.stale);
  }

  onHead(exchange: Exchange, head: ResponseHead): TapVerdict {
    const { request, stale } = this.#fetch;
    const nowMs = this.#services.now();
    request.plan.responseOperations?.apply(head.fields);
    head.fields.remove('x-trickster-result');
    // RFC 9110 §6.6.1: a recipient with a clock adds what is missing.
    if (!head.fields.has('date')) head.fields.add('date', new Date(nowMs).toUTCString());
    if (stale) {
      if (head.status === 304) return this.#renew(exchange, stale, head);
      if (ERRORS.has(head.status) && this.#serveInstead(exchange, stale)) return SWALLOW;
    }
    return this.#arrive(exchange, head, nowMs);
  }

  onData(piece: Piece): void {
    if (!this.#writer || piece.length === 0) return;
    if (this.#writer.write(piece.view())) this.#written += piece.length;
    else this.#giveUp();
  }

  onEnd(): void {
    if (this.#writer && this.#description) {
      const stored = { ...this.#description, length: this.#written };
      this.#writer.commit(stored);
      this.#writer = undefined;
      this.#takeFlight()?.settle(stored);
    }
    this.#takeFlight()?.dissolve();
    this.#releaseStale();
  }

  onAbort(): void {
    this.#writer?.discard();
    this.#writer = undefined;
    this.#releaseStale();
    this.#takeFlight()?.handOver();
  }

  onFailure(exchange: Exchange, status: number): boolean {
    const { stale } = this.#fetch;
    if (!stale || this.#fetch.isBackground) return false;
    if (this.#serveInstead(exchange, stale)) return true;
    // RFC 9111 §5.2.2.2: a disconnected cache answers 504 for what it must not use.
    if (!stale.terms.mustRevalidate || status === 504) return false;
    exchange.refuse(504, 'the stored response must be revalidated, and the backend cannot be asked');
    return true;
  }

  wantsRest(): boolean {
    return this.#writer !== undefined || this.#fetch.isBackground || (this.#flight?.isAwaited ?? false);
  }

  #arrive(exchange: Exchange, head: ResponseHead, nowMs: number): TapVerdict {
    const { isBackground, reason } = this.#fetch;
    const forwarded = `fwd=${reason}; fwd-status=${head.status}`;
    const arriving = this.#beginStoring(exchange, head, nowMs);
    if (typeof arriving === 'string') {
      this.#decline(head.status);
      this.#mark(exchange, head, { status: 'kmiss', cacheStatus: `${forwarded}; detail=${arriving}` });
      return isBackground ? SWALLOW : RELAY;
    }
    if (isBackground) return SWALLOW;
    // The client has it already: it gets the head only, while the body goes on to the store.
    const { conditions } = this.#fetch;
    if (head.status === 200 && isNotModified(conditions, arriving, nowMs)) toNotModified(head);
    this.#mark(exchange, head, { status: 'kmiss', cacheStatus: `${forwarded}; stored` });
    return RELAY;
  }

  /** What is about to be stored, its length unknown; or the word why nothing is. */
  #beginStoring(exchange: Exchange, head: ResponseHead, nowMs: number): StoredResponse | string {
    const { request } = this.#fetch;
    const arrived = { status: head.status, fields: head.fields, receivedAtMs: nowMs };
    const storability = assess(arrived, request.authorized, request.plan.rules);
    if ('refusal' in storability) return storability.refusal;
    this.#writer = request.store.begin(request.key, head.contentLength < 0 ? undefined : head.contentLength);
    if (!this.#writer) return 'size';
    this.#description = describeResponse(head.fields, {
      key: request.key,
      uri: cacheUriOf(request.exchange),
      status: head.status,
      terms: storability,
      // Not those of the request's own exchange: its head is gone when the client has left meanwhile.
      requestFields: exchange.request.fields,
      requestedAtMs: this.#fetch.requestedAtMs,
      receivedAtMs: nowMs,
    });
    return { ...this.#description, length: 0 };
  }

  /** The answer is not for the store. */
  #decline(status: number): void {
    const { request, stale } = this.#fetch;
    // What is stored is not what the origin says now.
    if (stale && status < 400) request.store.remove(stale);
    if (this.#flight && status < 500) this.#services.onUncacheable(request);
    this.#takeFlight()?.dissolve();
  }

  /** The stored response is still the current one (RFC 9111 §4.3.4). */
  #renew(exchange: Exchange, stale: StoredResponse, head: ResponseHead): TapVerdict {
    const { request, isBackground, conditions, requestedAtMs } = this.#fetch;
    const nowMs = this.#services.now();
    const times = { requestedAtMs, receivedAtMs: nowMs };
    const { response: next, isWithdrawn } = renewedResponse(request, stale, head.fields, times);
    request.store.replace(stale, next);
    if (!isBackground) {
      const result: CacheResult = { status: 'rhit', cacheStatus: 'fwd=stale; fwd-status=304' };
      const hit = hitOf(request, next, { ...result, conditions, nowMs });
      if (!this.#services.hits.serve(exchange, hit, this.#staleBody)) {
        exchange.refuse(502, 'the stored response was gone before it was validated');
      }
    }
    if (isWithdrawn) {
      request.store.remove(next);
      this.#takeFlight()?.dissolve();
    } else {
      this.#takeFlight()?.settle(next);
    }
    return SWALLOW;
  }

  /** RFC 5861 §4: the stored response instead of an error. */
  #serveInstead(exchange: Exchange, stale: StoredResponse): boolean {
    const { request, conditions, isBackground } = this.#fetch;
    const nowMs = this.#services.now();
    if (!standsInForError(stale, freshnessContext(request, nowMs))) return false;
    if (isBackground) return true;
    const hit = hitOf(request, stale, {
      status: 'hit',
      cacheStatus: 'hit; detail=stale-if-error',
      conditions,
      nowMs,
    });
    if (!this.#services.hits.serve(exchange, hit, this.#staleBody)) return false;
    this.#takeFlight()?.settle(stale);
    return true;
  }

  #mark(exchange: Exchange, head: ResponseHead, result: CacheResult): void {
    if (this.#fetch.isBackground) return;
    exchange.cacheResult = result.status;
    const flat = resultFields(result, this.#fetch.request.plan.policy.resultHeader);
    for (let i = 0; i + 1 < flat.length; i += 2) head.fields.add(flat[i] ?? '', flat[i + 1] ?? '');
  }

  /** The body is too large after all. */
  #giveUp(): void {
    this.#writer = undefined;
    if (this.#flight) this.#services.onUncacheable(this.#fetch.request);
    this.#takeFlight()?.dissolve();
  }

  #releaseStale(): void {
    const { request, stale } = this.#fetch;
    if (stale && this.#staleBody) request.store.release(stale);
    this.#staleBody = undefined;
  }

  #takeFlight(): Flight | undefined {
    const flight = this.#flight;
    this.#flight = undefined;
    return flight;
  }
}
