import type { HttpFilter } from './http-filter.js';
import type { Refusal } from './upstream.js';

/** A hostname of a server with the routes that answer for it. */
export interface VirtualHost {
  /** `<listener key>|<server hostname or *>|<hostname or *>`; unique. */
  readonly key: string;
  /** `''` any, exact, or `*.suffix`; lower case. The most specific one that matches is the only one asked. */
  readonly hostname: string;
  /** Keys into `ProxyConfiguration.routes`, sorted. */
  readonly routes: readonly string[];
}

/** One HTTPRoute or GRPCRoute as one Gateway serves it. */
export interface HttpRoute {
  /** `HTTPRoute/ns/name@Gateway/ns/name`; unique. */
  readonly key: string;
  readonly kind: 'HTTPRoute' | 'GRPCRoute';
  readonly namespace: string;
  readonly name: string;
  /** Creation time in ms since 1970: older routes win ties. */
  readonly createdAt: number;
  readonly rules: readonly HttpRule[];
}

export interface HttpRule {
  /** Position in the route; with the route's key it names the rule. */
  readonly index: number;
  /** `rules[].name`, when given. */
  readonly name?: string;
  /** Never empty: a rule without matches has one that matches the prefix `/`. */
  readonly matches: readonly HttpMatch[];
  /** In the order in which they are applied. */
  readonly filters: readonly HttpFilter[];
  /** Weights are relative to their sum, invalid ones included. Empty, or all zero: 500. */
  readonly backends: readonly WeightedBackend[];
  readonly timeouts: HttpTimeouts;
  readonly retry?: RetryPolicy;
  readonly sessionPersistence?: SessionPersistence;
  /** Key into `ProxyConfiguration.policies`; a backend's own wins. */
  readonly policy?: string;
  /** Set when the rule cannot be honoured: its matches answer this and never fall through. */
  readonly refusal?: Refusal;
}

/** All that is given must hold. */
export interface HttpMatch {
  readonly path: PathMatch;
  readonly method?: string;
  /** Names in lower case, each once. */
  readonly headers: readonly ValueMatch[];
  /** Names as written, each once. */
  readonly queryParams: readonly ValueMatch[];
}

/** `prefix` compares whole path elements and has no trailing slash (`/` is `''`). `regex` is RE2, anchored. */
export interface PathMatch {
  readonly type: 'exact' | 'prefix' | 'regex';
  readonly value: string;
}

export interface ValueMatch {
  readonly name: string;
  readonly type: 'exact' | 'regex';
  readonly value: string;
}

/** A share of a rule's traffic: an upstream, or the answer that stands for an invalid reference. */
export interface WeightedBackend {
  readonly weight: number;
  /** Key into `ProxyConfiguration.upstreams`. */
  readonly upstream?: string;
  /** Given instead of `upstream`. */
  readonly refusal?: Refusal;
  /** Filters of this backendRef, applied after the rule's. */
  readonly filters: readonly HttpFilter[];
  /** Key into `ProxyConfiguration.policies`: the effective policy of this backend. */
  readonly policy?: string;
}

/** In ms; absent means the engine's default, 0 means none. */
export interface HttpTimeouts {
  /** The whole exchange, retries included. */
  readonly requestMs?: number;
  /** One attempt at a backend. */
  readonly backendRequestMs?: number;
}

/** GEP-1731. Connection errors and timeouts of an attempt are always retried; answers only with these codes. */
export interface RetryPolicy {
  /** Tries after the first. */
  readonly attempts: number;
  readonly codes: readonly number[];
  /** Pause in ms before the first retry; absent means the engine's default. */
  readonly backoffMs?: number;
  /** Share of the active requests that may be retries, in percent, over `intervalMs`. */
  readonly budget?: {
    readonly percent: number;
    readonly intervalMs: number;
    readonly minRetriesPerSecond: number;
  };
}

/** GEP-1619. */
export interface SessionPersistence {
  readonly type: 'cookie' | 'header';
  readonly name: string;
  readonly lifetime: 'session' | 'permanent';
  readonly absoluteTimeoutMs?: number;
  readonly idleTimeoutMs?: number;
}
