import type { Endpoint } from '../../ir/upstream.js';
import type { DownstreamContext } from './downstream.js';
import type { RequestHead } from './heads.js';
import type { BackendEntry, RuleEntry } from './route-entry.js';

/**
 * What is known of an exchange when it is over. The exchange itself is the record, so nothing is built for a
 * request that nobody logs; it is valid during {@link ExchangeObserver.onExchangeEnd} only. Times are those of
 * `performance.now()`, in ms; 0 means it did not happen.
 */
export interface ExchangeRecord {
  readonly context: DownstreamContext;
  readonly request: RequestHead;
  /** Method and path as the client sent them, before any filter. */
  readonly originalMethod: string;
  readonly originalAuthority: string;
  readonly originalPath: string;
  /** Undefined when nothing matched. */
  readonly rule: RuleEntry | undefined;
  readonly backend: BackendEntry | undefined;
  /** The endpoint of the last attempt. */
  readonly endpoint: Endpoint | undefined;
  readonly attempts: number;
  /** Status that the client was sent; 0 when the client left before, 101 for a tunnel. */
  readonly status: number;
  /** Payload of the bodies; in a tunnel its bytes. */
  readonly requestBytes: number;
  readonly responseBytes: number;
  readonly startedAt: number;
  readonly upstreamStartedAt: number;
  readonly upstreamHeadAt: number;
  readonly responseHeadAt: number;
  readonly endedAt: number;
  /** Status word of `X-Trickster-Result` (`hit`, `kmiss`, …), or `''` when the cache was not asked. */
  readonly cacheResult: string;
  readonly termination: Termination;
  /** One sentence for the log about what went wrong; `''` when nothing did. */
  readonly detail: string;
}

/**
 * - `complete`: the whole response was handed to the transport.
 * - `gateway`: complete, and the gateway made the answer because something was wrong.
 * - `client`: the client left.
 * - `upstream`: the backend broke off within the response, and so did we.
 * - `timeout`: the time was over within the response.
 * - `shutdown`: the worker ended.
 */
export type Termination = 'complete' | 'gateway' | 'client' | 'upstream' | 'timeout' | 'shutdown';

/** Metrics and access log. Must not throw and must not keep the record. */
export interface ExchangeObserver {
  onExchangeEnd(record: ExchangeRecord): void;
  /** A request that a codec refused before there was an exchange: malformed, too large, too slow. */
  onRequestRefused(context: DownstreamContext, status: number, problem: string): void;
}
