/**
 * The object cache: a shared HTTP cache (RFC 9111) between an exchange and its backend.
 *
 * In: exchanges whose backend has a caching policy. Out: answers from a store, or a tap that stores, renews or
 * invalidates while the backend's answer passes. It knows exchanges and stores, never a codec or a socket, and
 * gateway-made answers never reach it (C-15).
 */
import type { Exchange } from '../exchange/exchange.js';
import { FieldList } from '../exchange/fields.js';
import { PlainRequestHead, type RequestHead, type ResponseHead } from '../exchange/heads.js';
import {
  type BackgroundFetcher,
  type CacheVerdict,
  FETCH,
  PASS,
  type ResponseCache,
  TAKEN,
} from '../exchange/response-cache.js';
import type { TimerWheel } from '../exchange/timer-wheel.js';
import { cacheUriOf } from './cache-key.js';
import { type CachePlan, CachePlans, type CacheSettings } from './cache-plan.js';
import {
  addValidators,
  type CacheRequest,
  freshnessContext,
  hitOf,
  SPECIAL,
  takeConditions,
} from './cache-request.js';
import type { CacheStore } from './cache-store.js';
import { FetchTap } from './fetch-tap.js';
import { Flight, type FlightLimits } from './flight.js';
import { updateByHead } from './head-update.js';
import { HitServer } from './hit-server.js';
import { invalidatedUris } from './invalidation.js';
import { PassTap } from './pass-tap.js';
import { RecentKeys } from './recent-keys.js';
import { clientTermsOf, NO_TERMS } from './request-terms.js';
import type { StoredResponse } from './stored-response.js';
import { type Usability, usabilityOf } from './usability.js';
import { isSelected } from './vary.js';

export interface ObjectCacheOptions extends CacheSettings {
  readonly timers: TimerWheel;
  /** For stale-while-revalidate; without it such responses are validated before they are served. */
  readonly background?: BackgroundFetcher;
  /** In ms since 1970. */
  readonly now?: () => number;
  /** How long a request waits for another's fetch of the same key before it asks itself, in ms. */
  readonly collapseWaitMs?: number;
  readonly mostWaiters?: number;
}

const DEFAULT_COLLAPSE_WAIT_MS = 5_000;
const DEFAULT_MOST_WAITERS = 10_000;
/** How long requests for a key whose answer could not be stored do not wait for each other. */
const UNCACHEABLE_MS = 5_000;

/** How a fetch is made. */
interface FetchPlan {
  readonly stale: StoredResponse | undefined;
  readonly flight: Flight | undefined;
  /** Parameter `fwd` of Cache-Status. */
  readonly reason: string;
}

export class ObjectCache implements ResponseCache {
  readonly #settings: CacheSettings;
  readonly #plans: CachePlans;
  readonly #background: BackgroundFetcher | undefined;
  readonly #now: () => number;
  readonly #limits: FlightLimits;
  readonly #hits = new HitServer();
  readonly #flights = new Map<string, Flight>();
  readonly #uncacheable = new RecentKeys(UNCACHEABLE_MS);

  constructor(options: ObjectCacheOptions) {
    this.#settings = options;
    this.#plans = new CachePlans(options);
    this.#background = options.background;
    this.#now = options.now ?? Date.now;
    this.#limits = {
      timers: options.timers,
      waitMs: options.collapseWaitMs ?? DEFAULT_COLLAPSE_WAIT_MS,
      mostWaiters: options.mostWaiters ?? DEFAULT_MOST_WAITERS,
    };
  }

  admit(exchange: Exchange): CacheVerdict {
    const { backend, route, request } = exchange;
    const policy = backend?.policy;
    if (!backend || !route || policy?.handler !== 'proxycache' || request.upgrade !== '') return PASS;
    const plan = this.#plans.of(route.rule, backend, policy);
    if (!plan.store) return this.#pass(exchange, new PassTap(plan, 'bypass'));
    if (request.method !== 'GET' && request.method !== 'HEAD') return this.#passMethod(exchange, plan);
    return this.#admitRead(exchange, plan, plan.store);
  }

  /** A GET or HEAD. */
  #admitRead(exchange: Exchange, plan: CachePlan, store: CacheStore): CacheVerdict {
    const { request } = exchange;
    const isPlain = !request.fields.hasAny(SPECIAL);
    const terms = isPlain ? NO_TERMS : clientTermsOf(request.fields, this.#settings.honorsClients);
    if (terms.noStore || isOdd(request, isPlain)) return this.#pass(exchange, new PassTap(plan, 'request'));
    return this.#answer({
      exchange,
      plan,
      store,
      key: plan.keys.of(exchange),
      terms,
      authorized: !isPlain && request.fields.has('authorization'),
      isPlain,
    });
  }

  #answer(request: CacheRequest): CacheVerdict {
    const { exchange, store, key } = request;
    const nowMs = this.#now();
    const stored = selectedOf(request);
    const usability = stored && usabilityOf(stored, freshnessContext(request, nowMs));
    if (stored && usability !== undefined && this.#serveStored(request, stored, { usability, nowMs }))
      return TAKEN;
    if (request.terms.onlyIfCached) {
      // RFC 9111 §5.2.1.7.
      exchange.refuse(504, 'only-if-cached, and nothing that is stored may be used');
      return TAKEN;
    }
    if (exchange.request.method === 'HEAD') return this.#passHead(request, stored);
    const reason = stored ? staleReason(request) : store.lookup(key).length > 0 ? 'vary-miss' : 'uri-miss';
    return this.#collapse(request, { stale: stored, reason });
  }

  #serveStored(
    request: CacheRequest,
    stored: StoredResponse,
    { usability, nowMs }: { readonly usability: Usability; readonly nowMs: number },
  ): boolean {
    if (usability === 'validate') return false;
    const isBehind = usability === 'revalidate-behind';
    if (isBehind && (!this.#background || !this.#revalidateBehind(request, stored, this.#background)))
      return false;
    const { exchange } = request;
    const status = stored.terms.negative ? 'nchit' : 'hit';
    const cacheStatus = isBehind ? 'hit; detail=stale-while-revalidate' : 'hit';
    const conditions = exchange.request.fields;
    return this.#hits.serve(exchange, hitOf(request, stored, { status, cacheStatus, conditions, nowMs }));
  }

  /** RFC 5861 §3. Answers whether the fetch is on its way, by this request or another. */
  #revalidateBehind(request: CacheRequest, stored: StoredResponse, background: BackgroundFetcher): boolean {
    const { exchange, key } = request;
    if (this.#flights.has(key)) return true;
    const head = PlainRequestHead.of(exchange.request);
    head.method = 'GET';
    takeConditions(head.fields);
    addValidators(head.fields, stored);
    const tap = new FetchTap(
      {
        request,
        stale: stored,
        conditions: new FieldList(),
        flight: this.#newFlight(key),
        reason: 'stale',
        isBackground: true,
        requestedAtMs: this.#now(),
      },
      this.#services,
    );
    background.fetch(exchange, head, tap);
    return true;
  }

  /** One fetch for all who ask for the key at the same time. */
  #collapse(request: CacheRequest, { stale, reason }: Pick<FetchPlan, 'stale' | 'reason'>): CacheVerdict {
    const { exchange, key } = request;
    // A part of it is of no use to the others.
    const isPartial = exchange.request.fields.has('range') && !stale;
    if (isPartial || this.#uncacheable.has(key, this.#now())) {
      return this.#fetch(request, { stale, reason, flight: undefined });
    }
    const flight = this.#flights.get(key);
    if (!flight) return this.#fetch(request, { stale, reason, flight: this.#newFlight(key) });
    const joined = flight.join(exchange, {
      serve: (stored) => this.#serveShared(request, stored),
      fetchAlone: () => {
        this.#fetch(request, { stale: selectedOf(request), reason, flight: undefined });
        exchange.forward();
      },
      lead: () => {
        this.#fetch(request, { stale, reason, flight });
        exchange.forward();
      },
    });
    return joined ? TAKEN : this.#fetch(request, { stale, reason, flight: undefined });
  }

  #newFlight(key: string): Flight {
    const flight = new Flight(this.#limits, () => {
      if (this.#flights.get(key) === flight) this.#flights.delete(key);
    });
    this.#flights.set(key, flight);
    return flight;
  }

  /** What another request's fetch has stored, if it may answer this one as well. */
  #serveShared(request: CacheRequest, stored: StoredResponse): boolean {
    const { exchange } = request;
    const { fields } = exchange.request;
    const nowMs = this.#now();
    if (!isSelected(stored, fields)) return false;
    if (usabilityOf(stored, freshnessContext(request, nowMs)) === 'validate') return false;
    const result = { status: 'proxy-hit', cacheStatus: 'fwd=miss; collapsed' } as const;
    return this.#hits.serve(exchange, hitOf(request, stored, { ...result, conditions: fields, nowMs }));
  }

  #fetch(request: CacheRequest, { stale, reason, flight }: FetchPlan): CacheVerdict {
    const { exchange } = request;
    const { fields } = exchange.request;
    // Without a store for the answer the client's own conditions save more than ours.
    const conditions = flight || stale ? takeConditions(fields) : new FieldList();
    if (stale) addValidators(fields, stale);
    exchange.tap = new FetchTap(
      {
        request,
        stale,
        conditions,
        flight,
        reason,
        isBackground: false,
        requestedAtMs: this.#now(),
      },
      this.#services,
    );
    return FETCH;
  }

  readonly #services = {
    now: (): number => this.#now(),
    hits: this.#hits,
    onUncacheable: ({ key }: CacheRequest): void => {
      this.#uncacheable.add(key, this.#now());
    },
  };

  #pass(exchange: Exchange, tap: PassTap): CacheVerdict {
    exchange.tap = tap;
    return FETCH;
  }

  #passMethod(exchange: Exchange, plan: CachePlan): CacheVerdict {
    const { method } = exchange.request;
    if (method === 'OPTIONS' || method === 'TRACE') return this.#pass(exchange, new PassTap(plan, 'method'));
    const uri = cacheUriOf(exchange);
    const invalidate = ({ status, fields }: ResponseHead): void => {
      // RFC 9111 §4.4: an answer that is no error.
      if (status < 200 || status >= 400) return;
      for (const each of invalidatedUris(uri, fields)) plan.store?.invalidate(each);
    };
    return this.#pass(exchange, new PassTap(plan, 'method', invalidate));
  }

  #passHead(request: CacheRequest, stored: StoredResponse | undefined): CacheVerdict {
    const requestedAtMs = this.#now();
    const update = (head: ResponseHead): void => {
      if (stored) updateByHead(request, stored, { head, requestedAtMs, receivedAtMs: this.#now() });
    };
    return this.#pass(request.exchange, new PassTap(request.plan, stored ? 'stale' : 'uri-miss', update));
  }
}

/** A body has no meaning in a GET, but a backend may give it one; the other conditions are the origin's to judge. */
function isOdd({ contentLength, fields }: RequestHead, isPlain: boolean): boolean {
  if (contentLength !== 0) return true;
  return !isPlain && (fields.has('if-match') || fields.has('if-unmodified-since'));
}

function selectedOf({ store, key, exchange }: CacheRequest): StoredResponse | undefined {
  const { fields } = exchange.request;
  for (const stored of store.lookup(key)) if (isSelected(stored, fields)) return stored;
  return undefined;
}

function staleReason({ terms }: CacheRequest): string {
  return terms.noCache || terms.maxAgeMs !== undefined ? 'request' : 'stale';
}
