import type { CachePolicy } from '../../ir/cache-policy.js';
import type { HttpRoute, HttpRule, WeightedBackend } from '../../ir/http.js';
import type { Affinity, BackendEntry, RuleEntry } from '../exchange/route-entry.js';
import type { UpstreamTarget } from '../exchange/upstream.js';
import {
  compileFilters,
  compilePolicyHeaders,
  type FilterServices,
  NO_FILTERS,
} from '../filters/compile-filters.js';
import { type AffinityOptions, SessionAffinity } from '../filters/session-affinity.js';
import type { SessionTokens } from '../filters/session-token.js';
import { WeightedBackends } from '../upstream/weighted-backends.js';

/** Time in ms an upstream has to answer when no policy says otherwise. */
const DEFAULT_AWAIT_HEAD_MS = 60_000;

export interface RuleServices extends FilterServices {
  readonly policy: (key: string) => CachePolicy | undefined;
  readonly sessions: SessionTokens;
}

/**
 * Makes what an exchange follows out of rules of the configuration. Everything is resolved here, once. Rules share
 * what has no state and belongs to none of them: of tens of thousands most send everything to one upstream.
 */
export class RuleCompiler {
  readonly #services: RuleServices;
  readonly #plain = new WeakMap<UpstreamTarget, WeightedBackends>();

  constructor(services: RuleServices) {
    this.#services = services;
  }

  compile(rule: HttpRule, route: HttpRoute): RuleEntry {
    const { requestSteps, responseSteps } = compileFilters(rule.filters, this.#services);
    const policy = rule.policy === undefined ? undefined : this.#services.policy(rule.policy);
    const backends = this.#backends(rule, policy);
    // What every request reads comes first and lies together.
    return {
      refusal: rule.refusal,
      requestMs: rule.timeouts.requestMs ?? 0,
      requestSteps,
      affinity: affinityOf(rule, route, { entries: backends.entries, tokens: this.#services.sessions }),
      backends,
      responseSteps,
      retry: rule.retry,
      backendRequestMs: rule.timeouts.backendRequestMs ?? 0,
      awaitHeadMs: policy?.timeoutMs ?? DEFAULT_AWAIT_HEAD_MS,
      route: route.key,
      kind: route.kind,
      index: rule.index,
      name: rule.name,
    };
  }

  #backends({ backends }: HttpRule, policy: CachePolicy | undefined): WeightedBackends {
    const [only, ...others] = backends;
    const upstream = only && others.length === 0 && !policy ? this.#plainUpstream(only) : undefined;
    if (!upstream) {
      return new WeightedBackends(backends.map((backend) => compileBackend(backend, policy, this.#services)));
    }
    let shared = this.#plain.get(upstream);
    if (!shared) {
      shared = new WeightedBackends([{ weight: 1, upstream, refusal: undefined, ...NO_FILTERS, policy }]);
      this.#plain.set(upstream, shared);
    }
    return shared;
  }

  /** Undefined for a backend that is anything else besides an upstream: what a cache keeps is of one rule. */
  #plainUpstream({
    weight,
    upstream,
    refusal,
    filters,
    policy,
  }: WeightedBackend): UpstreamTarget | undefined {
    const isPlain = weight > 0 && !refusal && filters.length === 0 && policy === undefined;
    return isPlain && upstream !== undefined ? this.#services.upstream(upstream) : undefined;
  }
}

function affinityOf(
  rule: HttpRule,
  route: HttpRoute,
  options: Pick<AffinityOptions, 'entries' | 'tokens'>,
): Affinity | undefined {
  const { sessionPersistence: persistence } = rule;
  if (!persistence) return undefined;
  const name = `${route.key}/${rule.name ?? String(rule.index)}`;
  return new SessionAffinity({ ...options, persistence, rule: name, now: Date.now });
}

function compileBackend(
  backend: WeightedBackend,
  rulePolicy: CachePolicy | undefined,
  services: RuleServices,
): BackendEntry {
  const policy = (backend.policy === undefined ? undefined : services.policy(backend.policy)) ?? rulePolicy;
  const filters = compileFilters(backend.filters, services);
  const headers = policy ? compilePolicyHeaders(policy) : NO_FILTERS;
  return {
    weight: backend.weight,
    ...destinationOf(backend, services),
    requestSteps: joined(filters.requestSteps, headers.requestSteps),
    responseSteps: joined(headers.responseSteps, filters.responseSteps),
    policy,
  };
}

function joined<T>(first: readonly T[], second: readonly T[]): readonly T[] {
  if (first.length === 0) return second;
  return second.length === 0 ? first : [...first, ...second];
}

type Destination = Pick<BackendEntry, 'upstream' | 'refusal'>;

function destinationOf(backend: WeightedBackend, services: RuleServices): Destination {
  if (backend.refusal) return { upstream: undefined, refusal: backend.refusal };
  const upstream: UpstreamTarget | undefined =
    backend.upstream === undefined ? undefined : services.upstream(backend.upstream);
  if (upstream) return { upstream, refusal: undefined };
  return {
    upstream: undefined,
    refusal: { status: 500, reason: `upstream ${backend.upstream ?? ''} is not configured` },
  };
}
