import type { GrpcRoute, GrpcRouteMatch, GrpcRouteRule } from '../apis/gateway/grpc-route.js';
import { trafficSettingsOf } from './backend-traffic-policy.js';
import type { Scope } from './context.js';
import type { RuleFault, RuleNode, RulesVerdict } from './http-rule.js';
import { findGrpcMatchFault } from './match-faults.js';
import { findSessionFault } from './session-fault.js';
import { findFiltersFault, judgeRules, resolveBackends, resolveFilters } from './rules.js';

export type GrpcRuleNode = RuleNode<GrpcRouteMatch, NoOptions>;

type NoOptions = Readonly<Record<string, never>>;

export interface GrpcRulesNode extends RulesVerdict {
  readonly rules: readonly GrpcRuleNode[];
}

/** Checks the rules of a GRPCRoute and follows their references; parents play no part. */
export function examineGrpcRules({ metadata, spec }: GrpcRoute, scope: Scope): GrpcRulesNode {
  const rules = (spec.rules ?? []).map((rule, index) => examineRule(rule, index, metadata.namespace, scope));
  return { rules, ...judgeRules(rules) };
}

function examineRule(rule: GrpcRouteRule, index: number, namespace: string, scope: Scope): GrpcRuleNode {
  const owner = { kind: 'GRPCRoute', namespace, field: `spec.rules[${index}]` } as const;
  const backends = resolveBackends(rule.backendRefs ?? [], owner, scope);
  const traffic = trafficSettingsOf(backends, scope);
  const sessionPersistence = rule.sessionPersistence ?? traffic.sessionPersistence;
  const fault = findFault(rule, scope);
  return {
    index,
    ...(rule.name !== undefined && { name: rule.name }),
    matches: rule.matches ?? [],
    filters: resolveFilters(rule.filters ?? [], owner, scope),
    backends,
    options: {},
    ...(sessionPersistence && { sessionPersistence }),
    ...(traffic.retryBudget && { retryBudget: traffic.retryBudget }),
    ...(fault && { fault }),
  };
}

function findFault(rule: GrpcRouteRule, { libraries }: Scope): RuleFault | undefined {
  for (const [index, match] of (rule.matches ?? []).entries()) {
    const fault = findGrpcMatchFault(match, `matches[${index}]`, libraries);
    if (fault) return fault;
  }
  return (
    findFiltersFault(rule.filters ?? [], rule.backendRefs ?? [], false) ??
    findSessionFault(rule.sessionPersistence)
  );
}
