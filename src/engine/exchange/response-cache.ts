import type { Exchange } from './exchange.js';
import type { Fields } from './fields.js';
import type { RequestHead, ResponseHead } from './heads.js';
import type { Piece } from './piece.js';

/** The cache is not concerned. */
export const PASS = 0;
/** The cache has set `exchange.tap` and wants the backend asked. */
export const FETCH = 1;
/** The cache has answered, or will: by `respondHead` and so on, `answer`, `refuse`, or `forward` after waiting. */
export const TAKEN = 2;
export type CacheVerdict = typeof PASS | typeof FETCH | typeof TAKEN;

/** The cache as the exchange sees it: asked when the backend's policy says `proxycache`. */
export interface ResponseCache {
  /** Before the first attempt, after all request steps. May change `exchange.request` (add a condition). */
  admit(exchange: Exchange): CacheVerdict;
}

/** The response goes on to the client. */
export const RELAY = 0;
/**
 * The response is for the tap alone (a 304 to its own condition); the tap answers the client through the exchange's
 * `respond…` methods, at the earliest within `onHead` itself.
 */
export const SWALLOW = 1;
export type TapVerdict = typeof RELAY | typeof SWALLOW;

/** Hears a backend's response. Exactly one of `onEnd` and `onAbort` is called last. */
export interface ResponseTap {
  /** The backend's head, hop-by-hop fields removed, before response steps. It may be changed. */
  onHead(exchange: Exchange, head: ResponseHead): TapVerdict;
  /** Must copy what it keeps. Never delays. `piece.last` is followed by `onEnd`. */
  onData(piece: Piece): void;
  /** The response is complete. */
  onEnd(trailers: Fields | undefined): void;
  /** No (complete) response: connect failures, timeouts, truncation, refusals. */
  onAbort(): void;
  /**
   * No attempt gave a head: the gateway is about to refuse with `status`. Answering true means the tap has answered
   * the client itself (stale-if-error). `onAbort` is called after it.
   */
  onFailure(exchange: Exchange, status: number): boolean;
  /** The client has left: true keeps the fetch going for the store's sake. */
  wantsRest(): boolean;
}

/** Fetches for the cache's own sake (stale-while-revalidate). */
export interface BackgroundFetcher {
  /** Asks the backend of `like` for `head` without a client; the tap hears the response. */
  fetch(like: Exchange, head: RequestHead, tap: ResponseTap): void;
}
