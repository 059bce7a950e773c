import type { Endpoint } from '../../../src/ir/upstream.js';
import { WRITTEN, type WriteOutcome } from '../../../src/engine/wire/wire.js';
import type { DownstreamContext } from '../../../src/engine/exchange/downstream.js';
import type { Termination } from '../../../src/engine/exchange/exchange-record.js';
import type { Exchange, RequestBodyTap, ResponseSource } from '../../../src/engine/exchange/exchange.js';
import type { Fields } from '../../../src/engine/exchange/fields.js';
import {
  type PlainRequestHead,
  PlainResponseHead,
  type ResponseHead,
  type SharedResponseHead,
} from '../../../src/engine/exchange/heads.js';
import type { Piece } from '../../../src/engine/exchange/piece.js';
import type { ResponseTap } from '../../../src/engine/exchange/response-cache.js';
import type { BackendEntry, RouteEntry, RuleEntry } from '../../../src/engine/exchange/route-entry.js';
import { contextOf } from './exchange-fixture.js';
import { requestOf, type RequestFixture } from './routing-fixture.js';

/** An exchange without a connection: it notes what is done to it. */
export class FakeExchange implements Exchange {
  readonly context: DownstreamContext;
  request: PlainRequestHead;
  route: RouteEntry | undefined;
  backend: BackendEntry | undefined;
  closed = false;
  cacheResult = '';
  tap: ResponseTap | undefined;

  readonly originalMethod: string;
  readonly originalAuthority: string;
  readonly originalPath: string;
  readonly rule: RuleEntry | undefined = undefined;
  endpoint: Endpoint | undefined;
  readonly attempts = 0;
  status = 0;
  readonly requestBytes = 0;
  readonly responseBytes = 0;
  readonly startedAt = 0;
  readonly upstreamStartedAt = 0;
  readonly upstreamHeadAt = 0;
  readonly responseHeadAt = 0;
  readonly endedAt = 0;
  readonly termination: Termination = 'complete';
  detail = '';

  /** The final head that the client was sent. */
  head: ResponseHead | undefined;
  body = '';
  ended = false;
  aborted = '';
  refusedWith: { readonly status: number; readonly detail: string } | undefined;
  proceeded = 0;
  forwarded = 0;
  source: ResponseSource | undefined;
  bodyTap: RequestBodyTap | undefined;
  /** What `respondData` and `respondHead` answer. */
  outcome: WriteOutcome = WRITTEN;
  /** Called once the answer is complete, refused, aborted or forwarded. */
  onSettled: () => void = () => undefined;

  constructor(
    request: RequestFixture = {},
    rest: { context?: Partial<DownstreamContext>; matchedPrefix?: string } = {},
  ) {
    this.context = contextOf(rest.context);
    this.request = requestOf(request);
    if (this.context.secure) this.request.scheme = 'https';
    this.originalMethod = this.request.method;
    this.originalAuthority = this.request.authority;
    this.originalPath = this.request.path;
    if (rest.matchedPrefix !== undefined) this.route = routeEntryOf(rest.matchedPrefix);
  }

  proceed(): void {
    this.proceeded++;
    this.onSettled();
  }

  forward(): void {
    this.forwarded++;
    this.onSettled();
  }

  answer(head: ResponseHead, body?: Buffer): void {
    this.#setHead(head);
    this.body = body?.toString('latin1') ?? '';
    this.#end();
  }

  refuse(status: number, detail: string): void {
    this.refusedWith = { status, detail };
    this.#setHead(new PlainResponseHead(status));
    this.#end();
  }

  respondHead(head: ResponseHead, piece: Piece, source: ResponseSource): WriteOutcome {
    this.source = source;
    this.#setHead(head);
    return this.respondData(piece);
  }

  respondShared(head: SharedResponseHead, piece: Piece, source: ResponseSource): WriteOutcome {
    return this.respondHead(head, piece, source);
  }

  respondData(piece: Piece): WriteOutcome {
    // As codecs do: no body whatever is given.
    if (this.status !== 304 && this.request.method !== 'HEAD') this.body += piece.view().toString('latin1');
    if (piece.last) this.#end();
    return this.outcome;
  }

  respondTrailers(): void {
    this.#end();
  }

  respondAbort(detail: string): void {
    this.aborted = detail;
    this.onSettled();
  }

  collectBody(_limit: number, done: (body: Buffer | undefined) => void): void {
    done(Buffer.alloc(0));
  }

  tapBody(tap: RequestBodyTap): void {
    this.bodyTap = tap;
  }

  /** The fields the client was sent, as text. */
  get sent(): Readonly<Record<string, string>> {
    return this.head ? fieldsOf(this.head.fields) : {};
  }

  #setHead(head: ResponseHead): void {
    if (this.head) throw new Error('a second head was sent');
    this.head = PlainResponseHead.of(head);
    this.status = head.status;
  }

  #end(): void {
    if (this.ended) throw new Error('the answer ended twice');
    this.ended = true;
    this.onSettled();
  }
}

/** Repeated names are joined by ` | `. */
export function fieldsOf(fields: Fields): Record<string, string> {
  const entries: Record<string, string> = {};
  fields.forEach((name, value) => {
    const before = entries[name];
    entries[name] = before === undefined ? value : `${before} | ${value}`;
  });
  return entries;
}

/** The status of `X-Trickster-Result` that the client was sent. */
export function trickResultOf(exchange: FakeExchange): string | undefined {
  return /status=([\w-]+)/.exec(exchange.sent['x-trickster-result'] ?? '')?.[1];
}

/** A rule without anything, met by the given prefix match. */
export function routeEntryOf(matchedPrefix: string | undefined, rule: Partial<RuleEntry> = {}): RouteEntry {
  return {
    matchedPrefix,
    rule: {
      route: 'HTTPRoute/ns/r@Gateway/ns/gw',
      kind: 'HTTPRoute',
      index: 0,
      name: undefined,
      refusal: undefined,
      requestSteps: [],
      responseSteps: [],
      backends: { entries: [], next: () => undefined },
      requestMs: 0,
      backendRequestMs: 0,
      awaitHeadMs: 0,
      retry: undefined,
      affinity: undefined,
      ...rule,
    },
  };
}
