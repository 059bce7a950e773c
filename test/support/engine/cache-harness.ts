import type { CachePolicy } from '../../../src/ir/cache-policy.js';
import { MemoryStore } from '../../../src/engine/cache/memory-store.js';
import { ObjectCache, type ObjectCacheOptions } from '../../../src/engine/cache/object-cache.js';
import { FieldList } from '../../../src/engine/exchange/fields.js';
import type { ResponseSource } from '../../../src/engine/exchange/exchange.js';
import { PlainRequestHead, PlainResponseHead } from '../../../src/engine/exchange/heads.js';
import { Piece } from '../../../src/engine/exchange/piece.js';
import {
  type BackgroundFetcher,
  FETCH,
  RELAY,
  type ResponseTap,
} from '../../../src/engine/exchange/response-cache.js';
import type { BackendEntry } from '../../../src/engine/exchange/route-entry.js';
import { TimerWheel } from '../../../src/engine/exchange/timer-wheel.js';
import { FakeExchange, routeEntryOf } from './fake-exchange.js';
import type { RequestFixture } from './routing-fixture.js';

export const START = Date.UTC(2026, 0, 2, 3, 4, 5);

export interface OriginAnswer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** The connection breaks: before the head, or within the body. */
  readonly breaks?: 'before' | 'within';
}

export const CACHING_POLICY: CachePolicy = {
  key: 'p',
  handler: 'proxycache',
  cacheName: 'default',
  keyHeaders: [],
  requestHeaders: [],
  responseHeaders: [],
  collapsedForwarding: 'basic',
  resultHeader: 'expose',
};

export function backendOf(policy: Partial<CachePolicy> = {}, upstream = 'Service/ns/a/80'): BackendEntry {
  return {
    weight: 1,
    upstream: { key: upstream, choose: () => ({ status: 503, reason: 'none' }) },
    refusal: undefined,
    requestSteps: [],
    responseSteps: [],
    policy: { ...CACHING_POLICY, ...policy },
  };
}

/** A fetch that the cache asked for and that has not been answered. */
export interface PendingFetch {
  readonly exchange: FakeExchange;
  readonly tap: ResponseTap;
  /** What the origin was asked, as text. */
  readonly asked: PlainRequestHead;
}

export interface HarnessOptions extends Partial<ObjectCacheOptions> {
  readonly policy?: Partial<CachePolicy>;
  readonly maxObjectBytes?: number;
  /** Whether stale responses can be revalidated behind the client's back. */
  readonly hasBackground?: boolean;
}

/** The object cache with a clock, a memory store and an origin that the test plays. */
export class CacheHarness {
  nowMs = START;
  readonly store: MemoryStore;
  readonly timers: TimerWheel;
  readonly cache: ObjectCache;
  readonly pending: PendingFetch[] = [];
  /** Number of requests that the origin was asked. */
  fetches = 0;
  readonly #backend: BackendEntry;
  readonly #rule = routeEntryOf('');
  readonly #background: BackgroundFetcher = {
    fetch: (like, head, tap) => {
      const exchange = new FakeExchange({ target: like.request.path });
      exchange.closed = true;
      exchange.request = PlainRequestHead.of(head);
      this.fetches++;
      this.pending.push({ exchange, tap, asked: PlainRequestHead.of(head) });
    },
  };

  constructor(options: HarnessOptions = {}) {
    const { policy, maxObjectBytes = 64 * 1024, hasBackground = true, ...rest } = options;
    this.store = new MemoryStore({ maxSizeBytes: 4 * 1024 * 1024, maxObjectBytes });
    this.timers = new TimerWheel(20, () => this.nowMs);
    this.#backend = backendOf(policy);
    this.cache = new ObjectCache({
      stores: new Map([['default', this.store]]),
      negativeCaches: new Map(),
      heuristicFraction: 0,
      honorsClients: true,
      timers: this.timers,
      now: () => this.nowMs,
      ...(hasBackground ? { background: this.#background } : {}),
      ...rest,
    });
  }

  /** Sends a request; what the cache does not answer is pending. */
  send(request: RequestFixture = {}, backend = this.#backend): FakeExchange {
    const exchange = new FakeExchange(request);
    exchange.route = this.#rule;
    exchange.backend = backend;
    const fetch = (): void => {
      const { tap } = exchange;
      if (!tap) throw new Error('the backend is asked without a tap');
      this.fetches++;
      this.pending.push({ exchange, tap, asked: PlainRequestHead.of(exchange.request) });
    };
    const forward = exchange.forward.bind(exchange);
    exchange.forward = () => {
      forward();
      fetch();
    };
    if (this.cache.admit(exchange) === FETCH) fetch();
    return exchange;
  }

  /** Answers the oldest pending fetch. */
  reply(answer: OriginAnswer = {}): PendingFetch {
    const fetch = this.pending.shift();
    if (!fetch) throw new Error('nothing is pending');
    deliver(fetch, answer, this.nowMs);
    return fetch;
  }

  /** Sends a request and answers it, if the origin is asked. */
  ask(request: RequestFixture = {}, answer: OriginAnswer = {}): FakeExchange {
    const exchange = this.send(request);
    if (this.pending.length > 0) this.reply(answer);
    return exchange;
  }

  pass(ms: number): void {
    this.nowMs += ms;
    this.timers.advance();
  }
}

/** What the exchange does with the answer of a backend. */
function deliver(fetch: PendingFetch, answer: OriginAnswer, nowMs: number): void {
  const { exchange, tap } = fetch;
  if (answer.breaks === 'before') {
    const isAnswered = tap.onFailure(exchange, 502);
    tap.onAbort();
    if (!isAnswered && !exchange.closed) exchange.refuse(502, 'refused');
    return;
  }
  const head = headOf(answer, nowMs);
  const isRelayed = tap.onHead(exchange, head) === RELAY && !exchange.closed;
  if (isRelayed) exchange.respondHead(head, new Piece(), NO_SOURCE);
  deliverBody(fetch, answer, isRelayed);
  if (answer.breaks !== 'within') {
    tap.onEnd(undefined);
    return;
  }
  tap.onAbort();
  if (isRelayed) exchange.respondAbort('truncated');
}

const NO_SOURCE: ResponseSource = { resume: () => undefined, cancel: () => undefined };

/** With Content-Length, unless there is `x-chunked`. */
function headOf({ status = 200, headers = {}, body = '' }: OriginAnswer, nowMs: number): PlainResponseHead {
  const fields = new FieldList(['date', new Date(nowMs).toUTCString()]);
  for (const [name, value] of Object.entries(headers)) fields.set(name, value);
  if (!fields.has('content-length') && !fields.has('x-chunked'))
    fields.add('content-length', String(body.length));
  const length = fields.get('content-length');
  return new PlainResponseHead(status, fields, length === undefined ? -1 : Number(length));
}

/** In two pieces; only the first when the connection breaks. */
function deliverBody({ exchange, tap }: PendingFetch, answer: OriginAnswer, isRelayed: boolean): void {
  const { status, body = '', breaks } = answer;
  const sent = exchange.request.method === 'HEAD' || status === 304 ? '' : body;
  const middle = Math.floor(sent.length / 2);
  for (const [index, half] of [sent.slice(0, middle), sent.slice(middle)].entries()) {
    if (breaks === 'within' && index === 1) return;
    const bytes = Buffer.from(half, 'latin1');
    const piece = new Piece().set(bytes, 0, bytes.length, index === 1);
    tap.onData(piece);
    if (isRelayed) exchange.respondData(piece);
  }
}
