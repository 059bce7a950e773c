/**
 * One request and its response, independent of the codec.
 *
 * In: a head and body pieces from a {@link DownstreamStream}; an answer from a backend, the cache, a filter or the
 * gateway itself. Out: the response to that stream and one {@link ExchangeRecord}. It must not know a codec.
 *
 * Order: route → rule's request steps → backend by affinity or weight → backend's request steps → cache → attempts →
 * tap → response steps (backend's, then rule's) → client.
 */
import type { WriteOutcome } from '../wire/wire.js';
import type { DownstreamContext } from './downstream.js';
import type { ExchangeRecord } from './exchange-record.js';
import type { Fields } from './fields.js';
import type { RequestHead, ResponseHead, SharedResponseHead } from './heads.js';
import type { Piece } from './piece.js';
import type { BackendEntry, RouteEntry } from './route-entry.js';
import type { ResponseTap } from './response-cache.js';

/** What steps, the cache and other layers may do with an exchange. */
export interface Exchange extends ExchangeRecord {
  readonly context: DownstreamContext;
  /** The head as it will be forwarded: steps change it. */
  readonly request: RequestHead;
  readonly route: RouteEntry | undefined;
  readonly backend: BackendEntry | undefined;
  /** The client has left or the exchange is over: nothing that is sent arrives. */
  readonly closed: boolean;
  /** Set by the cache. */
  cacheResult: string;
  /** Hears the response of the backend before the client does; set by the cache before the attempt. */
  tap: ResponseTap | undefined;

  /** Goes on after a step answered `SUSPENDED`. */
  proceed(): void;
  /** After the cache answered `TAKEN`: asks the backend after all. */
  forward(): void;

  /** A whole answer made here; response steps are not applied. */
  answer(head: ResponseHead, body?: Buffer): void;
  /** The gateway's own error: small, uniform, as gRPC trailers when the request is gRPC. `detail` is logged only. */
  refuse(status: number, detail: string): void;

  /** Streams an answer that another layer produces (the cache); response steps are applied to the head. */
  respondHead(head: ResponseHead, piece: Piece, source: ResponseSource): WriteOutcome;
  /** The same with a head that other exchanges send as well; its own steps get a copy of it. */
  respondShared(head: SharedResponseHead, piece: Piece, source: ResponseSource): WriteOutcome;
  respondData(piece: Piece): WriteOutcome;
  respondTrailers(fields: Fields): void;
  /** The answer cannot be completed: the client must notice. */
  respondAbort(detail: string): void;

  /**
   * Collects the request body, at most `limit` bytes, then calls back once with it, or with undefined when it is
   * larger (the first `limit` bytes and the rest are still forwarded) or the client left. Only while suspended.
   */
  collectBody(limit: number, done: (body: Buffer | undefined) => void): void;
  /** Hears every piece of the request body from its first byte on; only before the first attempt. */
  tapBody(tap: RequestBodyTap): void;
}

/** Whoever produces a streamed answer. */
export interface ResponseSource {
  /** The client took everything: go on. */
  resume(): void;
  /** Nobody wants the rest. */
  cancel(): void;
}

/** Mirrors. Must copy what it keeps; slow ones must drop, not block. */
export interface RequestBodyTap {
  /** `piece.last` ends the body. */
  onBody(piece: Piece): void;
  onBodyAbort(): void;
}

/** What a downstream codec calls on the exchange that it began. */
export interface InboundExchange {
  /** More of the request body. `PENDING`: the codec holds back until `resumeBody`. */
  onRequestData(piece: Piece): WriteOutcome;
  /** The request body ended with trailers. */
  onRequestTrailers(fields: Fields): void;
  /** The client left, or broke its own framing. No call to the stream follows. */
  onRequestAbort(detail: string): void;
  /** What was `PENDING` has left. */
  onResponseDrain(): void;
}
