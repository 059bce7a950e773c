import { createHash } from 'node:crypto';
import type { CachePolicy } from '../../ir/cache-policy.js';
import type { DownstreamContext } from '../exchange/downstream.js';
import type { Exchange } from '../exchange/exchange.js';
import type { BackendEntry, RuleEntry } from '../exchange/route-entry.js';
import { HeaderOperations } from '../filters/header-operations.js';
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
  readonly keyBeginning: KeyBeginning;
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
      keyBeginning: new KeyBeginning(keyOwner(rule, backend, policy)),
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

/** Hosts whose beginnings are kept. */
const KEPT_HOSTS = 1024;

/** The part of keys that is the same for a listener and host: short, for every request hashes it. */
class KeyBeginning {
  readonly #owner: string;
  readonly #kept = new Map<string, string>();
  #listener = '';
  #authority = '';
  #text = '';

  constructor(owner: string) {
    this.#owner = owner;
  }

  of({ context, originalAuthority }: Exchange): string {
    if (context.listener !== this.#listener || originalAuthority !== this.#authority) {
      this.#listener = context.listener;
      this.#authority = originalAuthority;
      this.#text = this.#find(context, originalAuthority);
    }
    return this.#text;
  }

  #find({ listener, secure }: DownstreamContext, authority: string): string {
    const parts = [listener, secure ? 'https' : 'http', authority.toLowerCase()].map(keyPart).join('');
    let text = this.#kept.get(parts);
    if (text === undefined) {
      // 132 bits: nobody finds two of one digest.
      text = createHash('sha256').update(this.#owner).update(parts).digest('base64url').slice(0, 22);
      if (this.#kept.size >= KEPT_HOSTS) this.#kept.clear();
      this.#kept.set(parts, text);
    }
    return text;
  }
}

/** With its length before it, so that no two lists of parts look alike. */
export function keyPart(text: string): string {
  return `${text.length}:${text}`;
}
