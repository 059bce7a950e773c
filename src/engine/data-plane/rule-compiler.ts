import type { CachePolicy } from '../../ir/cache-policy.js';
import type { HttpRoute, HttpRule, WeightedBackend } from '../../ir/http.js';
import type { Affinity, BackendEntry, RuleEntry } from '../exchange/route-entry.js';
import type { UpstreamTarget } from '../exchange/upstream.js';
import { compileFilters, compilePolicyHeaders, type FilterServices } from '../filters/compile-filters.js';
import { type AffinityOptions, SessionAffinity } from '../filters/session-affinity.js';
import type { SessionTokens } from '../filters/session-token.js';
import { WeightedBackends } from '../upstream/weighted-backends.js';

/** Time in ms an upstream has to answer when no policy says otherwise. */
const DEFAULT_AWAIT_HEAD_MS = 60_000;

export interface RuleServices extends FilterServices {
  readonly policy: (key: string) => CachePolicy | undefined;
  readonly sessions: SessionTokens;
}

/** Makes what an exchange follows out of a rule of the configuration. Everything is resolved here, once. */
export function compileRule(rule: HttpRule, route: HttpRoute, services: RuleServices): RuleEntry {
  const filters = compileFilters(rule.filters, services);
  const policy = rule.policy === undefined ? undefined : services.policy(rule.policy);
  const entries = rule.backends.map((backend) => compileBackend(backend, policy, services));
  return {
    route: route.key,
    kind: route.kind,
    index: rule.index,
    name: rule.name,
    refusal: rule.refusal,
    requestSteps: filters.requestSteps,
    responseSteps: filters.responseSteps,
    backends: new WeightedBackends(entries),
    requestMs: rule.timeouts.requestMs ?? 0,
    backendRequestMs: rule.timeouts.backendRequestMs ?? 0,
    awaitHeadMs: policy?.timeoutMs ?? DEFAULT_AWAIT_HEAD_MS,
    retry: rule.retry,
    affinity: affinityOf(rule, route, { entries, tokens: services.sessions }),
  };
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
  const headers = policy ? compilePolicyHeaders(policy) : { requestSteps: [], responseSteps: [] };
  return {
    weight: backend.weight,
    ...destinationOf(backend, services),
    requestSteps: [...filters.requestSteps, ...headers.requestSteps],
    responseSteps: [...headers.responseSteps, ...filters.responseSteps],
    policy,
  };
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
