import type { StreamRouteRule } from '../apis/gateway/stream-route.js';
import type { Scope } from './context.js';
import type { BackendNode, RulesVerdict } from './http-rule.js';
import { judgeRules, resolveBackends } from './rules.js';

/** The rules of a TLSRoute, TCPRoute or UDPRoute: there is exactly one, and it only has backends. */
export interface StreamRulesNode extends RulesVerdict {
  readonly backends: readonly BackendNode[];
}

export function examineStreamRules(
  rules: readonly StreamRouteRule[],
  owner: { readonly kind: 'TLSRoute' | 'TCPRoute' | 'UDPRoute'; readonly namespace: string },
  scope: Scope,
): StreamRulesNode {
  const nodes = rules.map((rule, index) => ({
    index,
    filters: [],
    backends: resolveBackends(rule.backendRefs, { ...owner, field: `spec.rules[${index}]` }, scope),
  }));
  return { backends: nodes.flatMap(({ backends }) => backends), ...judgeRules(nodes) };
}
