import type {
  HttpRoute,
  HttpRouteMatch,
  HttpRouteRetry,
  HttpRouteRule,
  HttpRouteTimeouts,
} from '../apis/gateway/http-route.js';
import { trafficSettingsOf } from './backend-traffic-policy.js';
import type { Scope } from './context.js';
import type { RuleFault, RuleNode, RulesVerdict } from './http-rule.js';
import { findHttpMatchFault } from './match-faults.js';
import { findSessionFault } from './session-fault.js';
import { findFiltersFault, findTimeoutsFault, judgeRules, resolveBackends, resolveFilters } from './rules.js';

export type HttpRuleNode = RuleNode<HttpRouteMatch, HttpRuleOptions>;

interface HttpRuleOptions {
  readonly timeouts?: HttpRouteTimeouts;
  readonly retry?: HttpRouteRetry;
}

export interface HttpRulesNode extends RulesVerdict {
  readonly rules: readonly HttpRuleNode[];
}

/** Checks the rules of an HTTPRoute and follows their references; parents play no part. */
export function examineHttpRules({ metadata, spec }: HttpRoute, scope: Scope): HttpRulesNode {
  const rules = spec.rules.map((rule, index) => examineRule(rule, index, metadata.namespace, scope));
  return { rules, ...judgeRules(rules) };
}

function examineRule(rule: HttpRouteRule, index: number, namespace: string, scope: Scope): HttpRuleNode {
  const owner = { kind: 'HTTPRoute', namespace, field: `spec.rules[${index}]` } as const;
  const backends = resolveBackends(rule.backendRefs ?? [], owner, scope);
  const traffic = trafficSettingsOf(backends, scope);
  const sessionPersistence = rule.sessionPersistence ?? traffic.sessionPersistence;
  const fault = findFault(rule, scope);
  return {
    index,
    ...(rule.name !== undefined && { name: rule.name }),
    matches: rule.matches,
    filters: resolveFilters(rule.filters ?? [], owner, scope),
    backends,
    options: {
      ...(rule.timeouts && { timeouts: rule.timeouts }),
      ...(rule.retry && { retry: rule.retry }),
    },
    ...(sessionPersistence && { sessionPersistence }),
    ...(traffic.retryBudget && { retryBudget: traffic.retryBudget }),
    ...(fault && { fault }),
  };
}

function findFault(rule: HttpRouteRule, { libraries }: Scope): RuleFault | undefined {
  for (const [index, match] of rule.matches.entries()) {
    const fault = findHttpMatchFault(match, `matches[${index}]`, libraries);
    if (fault) return fault;
  }
  const prefixOnly = rule.matches.every(({ path }) => path.type === 'PathPrefix');
  return (
    findFiltersFault(rule.filters ?? [], rule.backendRefs ?? [], prefixOnly) ??
    findTimeoutsFault(rule.timeouts ?? {}) ??
    findSessionFault(rule.sessionPersistence)
  );
}
