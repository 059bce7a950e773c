/**
 * The effective TricksterCachePolicy of a rule or backend, after class parameters, Gateway, route, rule, Service
 * and port were merged field by field (research/trickster.md §2.2).
 */
export interface CachePolicy {
  /** Derived from its content, so equal policies are one. */
  readonly key: string;
  readonly handler: 'proxy' | 'proxycache';
  /** Name of a cache of the configuration file. */
  readonly cacheName: string;
  /** Name of a negative cache of the configuration file: status code → lifetime. */
  readonly negativeCacheName?: string;
  /** Upper bound of a stored response's freshness, in ms. */
  readonly maxTtlMs?: number;
  /** Time in ms an upstream has to answer. */
  readonly timeoutMs?: number;
  /** Query parameters in the key; absent means the whole query string, `['*']` likewise. */
  readonly keyParams?: readonly string[];
  /** Request fields in the key, lower case. */
  readonly keyHeaders: readonly string[];
  readonly requestHeaders: readonly HeaderOperation[];
  /** Applied before it is decided whether a response may be stored. */
  readonly responseHeaders: readonly HeaderOperation[];
  readonly collapsedForwarding: 'basic' | 'progressive';
  /** Whether clients see `X-Trickster-Result`. */
  readonly resultHeader: 'expose' | 'hide';
}

/** One of `Name: v` (set), `+Name: v` (append), `-Name` (remove); at most one for each name. */
export interface HeaderOperation {
  readonly operation: 'set' | 'append' | 'remove';
  readonly name: string;
  /** Absent for `remove`. */
  readonly value?: string;
}
