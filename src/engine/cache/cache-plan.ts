import type { CachePolicy } from '../../ir/cache-policy.js';
import type { BackendEntry, RuleEntry } from '../exchange/route-entry.js';
import { HeaderOperations } from '../filters/header-operations.js';
import { CacheKeys, keyPart } from './cache-key.js';
import type { CacheStore } from './cache-store.js';
import type { StoringRules } from './storability.js';

/** The caches of the configuration file, by name, and what holds for all of them. */
export interface CacheSettings {
  readonly stores: ReadonlyMap<string, CacheStore>;
  /** Name → status → lifetime in ms. */
  readonly negativeCaches: ReadonlyMap<string, ReadonlyMap<number, number>>;
  /** See {@link StoringRules.heuristicFraction}. */
  readonly heuristicFraction: number;
  /** Whether clients may ask for validation, a maximum age and so on (RFC 9111 §5.2.1); `no-store` always counts. */
  readonly honorsClients: boolean;
}

/** What a backend's policy means, made once. */
export interface CachePlan {
  readonly policy: CachePolicy;
  /** Undefined when the configuration file has no cache of that name: nothing is stored. */
  readonly store: CacheStore | undefined;
  readonly rules: StoringRules;
  readonly responseOperations: HeaderOperations | undefined;
  readonly keys: CacheKeys;
}

const NO_TTLS: ReadonlyMap<number, number> = new Map();

export class CachePlans {
  readonly #settings: CacheSettings;
  readonly #plans = new WeakMap<BackendEntry, CachePlan>();

  constructor(settings: CacheSettings) {
    this.#settings = settings;
  }

  of(rule: RuleEntry, backend: BackendEntry, policy: CachePolicy): CachePlan {
    let plan = this.#plans.get(backend);
    if (!plan) {
      plan = this.#make(rule, backend, policy);
      this.#plans.set(backend, plan);
    }
    return plan;
  }

  #make(rule: RuleEntry, backend: BackendEntry, policy: CachePolicy): CachePlan {
    const { stores, negativeCaches, heuristicFraction } = this.#settings;
    const negativeTtls = negativeCaches.get(policy.negativeCacheName ?? '') ?? NO_TTLS;
    const { responseHeaders } = policy;
    return {
      policy,
      store: stores.get(policy.cacheName),
      rules: { negativeTtls, heuristicFraction },
      responseOperations: responseHeaders.length > 0 ? new HeaderOperations(responseHeaders) : undefined,
      keys: new CacheKeys(keyOwner(rule, backend, policy), policy),
    };
  }
}

/**
 * Who a response belongs to: nothing of one route, rule, backend or variation of headers is served for another
 * (another tenant may be behind it). Lifetimes are not in it, so changing one does not empty the cache.
 */
function keyOwner(rule: RuleEntry, backend: BackendEntry, policy: CachePolicy): string {
  const parts = [
    rule.route,
    rule.name ?? String(rule.index),
    backend.upstream?.key ?? '',
    JSON.stringify([
      policy.requestHeaders,
      policy.responseHeaders,
      policy.keyParams ?? null,
      policy.keyHeaders,
    ]),
  ];
  return parts.map(keyPart).join('');
}
