import type { SessionPersistence } from '../apis/gateway/session-persistence.js';
import type { BackendNode, RuleFault } from '../graph/http-rule.js';
import type { GrpcRuleNode } from '../graph/grpc-route.js';
import type { HttpRuleNode } from '../graph/http-route.js';
import type { RouteNode } from '../graph/route.js';
import type * as ir from '../ir/http.js';
import { parseDuration } from '../util/duration.js';
import { toFilters } from './filters.js';
import { toGrpcMatches, toHttpMatches, withoutBadRegex } from './matches.js';
import { sessionName } from './session-name.js';
import type { UpstreamNames } from './upstream-request.js';

/** A route that carries HTTP. */
export type HttpCarryingRoute = Extract<RouteNode, { kind: 'HTTPRoute' | 'GRPCRoute' }>;

/** What of a Gateway shapes its rules. */
interface RuleTraits {
  /** Time in ms an upstream has to answer when the rule does not say. */
  readonly backendRequestMs?: number;
  /** Undefined when RE2 takes the pattern. */
  readonly regexProblem: (pattern: string) => string | undefined;
}

export function toRules(
  route: HttpCarryingRoute,
  traits: RuleTraits,
  upstreams: UpstreamNames,
): readonly ir.HttpRule[] {
  if (route.kind === 'HTTPRoute') {
    return route.rules.rules.map((rule) => toHttpRule(rule, route.key, traits, upstreams));
  }
  const rules = route.rules.rules.map((rule) => toGrpcRule(rule, route.key, traits, upstreams));
  return rules;
}

function toHttpRule(
  rule: HttpRuleNode,
  route: string,
  traits: RuleTraits,
  upstreams: UpstreamNames,
): ir.HttpRule {
  const base = describe(rule, toHttpMatches(rule.matches));
  if (rule.fault) return refuse(base, rule.fault, traits);
  const { timeouts, retry } = rule.options;
  return {
    ...base,
    filters: toFilters(rule.filters, upstreams),
    backends: rule.backends.map((backend) =>
      toBackend(backend, (target) => upstreams.http(target), upstreams),
    ),
    timeouts: toTimeouts(timeouts ?? {}, traits),
    ...(retry && { retry: toRetry(retry, rule) }),
    ...toSession(rule, route),
  };
}

function toGrpcRule(
  rule: GrpcRuleNode,
  route: string,
  traits: RuleTraits,
  upstreams: UpstreamNames,
): ir.HttpRule {
  const base = describe(rule, toGrpcMatches(rule.matches));
  if (rule.fault) return refuse(base, rule.fault, traits);
  return {
    ...base,
    filters: toFilters(rule.filters, upstreams),
    backends: rule.backends.map((backend) =>
      toBackend(backend, (target) => upstreams.grpc(target), upstreams),
    ),
    timeouts: toTimeouts({}, traits),
    ...toSession(rule, route),
  };
}

type RuleBase = Pick<ir.HttpRule, 'index' | 'name' | 'matches'>;

function describe(rule: HttpRuleNode | GrpcRuleNode, matches: readonly ir.HttpMatch[]): RuleBase {
  const { index, name } = rule;
  return { index, ...(name !== undefined && { name }), matches };
}

/** A rule that cannot be honoured is not dropped: a broader rule would serve its requests without what it asked for. */
function refuse(rule: RuleBase, fault: RuleFault, { regexProblem }: RuleTraits): ir.HttpRule {
  const isBad = (pattern: string): boolean => regexProblem(pattern) !== undefined;
  return {
    ...rule,
    matches: rule.matches.map((match) => withoutBadRegex(match, isBad)),
    filters: [],
    backends: [],
    timeouts: {},
    refusal: { status: 500, reason: `Dropped Rule ${rule.index}: ${fault.cause}` },
  };
}

function toBackend(
  { weight, backend, filters }: BackendNode,
  name: UpstreamNames['http'],
  upstreams: UpstreamNames,
): ir.WeightedBackend {
  const common = { weight, filters: toFilters(filters, upstreams) };
  return 'target' in backend
    ? { ...common, upstream: name(backend.target) }
    : { ...common, refusal: { status: 500, reason: backend.problem.message } };
}

/** One for all rules without. */
const NO_TIMEOUTS: ir.HttpTimeouts = {};

function toTimeouts(
  { request, backendRequest }: { readonly request?: string; readonly backendRequest?: string },
  traits: RuleTraits,
): ir.HttpTimeouts {
  if (request === undefined && backendRequest === undefined && traits.backendRequestMs === undefined) {
    return NO_TIMEOUTS;
  }
  const requestMs = request === undefined ? undefined : parseDuration(request);
  const backendRequestMs =
    backendRequest === undefined ? traits.backendRequestMs : parseDuration(backendRequest);
  return {
    ...(requestMs !== undefined && { requestMs }),
    ...(backendRequestMs !== undefined && { backendRequestMs }),
  };
}

/** GEP-1731 leaves the number of attempts to us when it is not given: one more try. */
function toRetry(
  { attempts = 1, codes = [], backoff }: NonNullable<HttpRuleNode['options']['retry']>,
  { retryBudget }: HttpRuleNode,
): ir.RetryPolicy {
  const backoffMs = backoff === undefined ? undefined : parseDuration(backoff);
  return {
    attempts,
    codes,
    ...(backoffMs !== undefined && { backoffMs }),
    ...(retryBudget && { budget: retryBudget }),
  };
}

function toSession(
  { sessionPersistence, index }: { readonly sessionPersistence?: SessionPersistence; readonly index: number },
  route: string,
): Pick<ir.HttpRule, 'sessionPersistence'> {
  if (!sessionPersistence) return {};
  const { type, cookieConfig, absoluteTimeout } = sessionPersistence;
  const absoluteTimeoutMs = absoluteTimeout === undefined ? undefined : parseDuration(absoluteTimeout);
  return {
    sessionPersistence: {
      type: type === 'Header' ? 'header' : 'cookie',
      name:
        sessionPersistence.sessionName ??
        sessionName(`${route}/${index}`, type === 'Header' ? 'Header' : 'Cookie'),
      lifetime: cookieConfig?.lifetimeType === 'Permanent' ? 'permanent' : 'session',
      ...(absoluteTimeoutMs !== undefined && { absoluteTimeoutMs }),
    },
  };
}
