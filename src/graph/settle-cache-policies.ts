import type { ClusterSnapshot } from '../apis/cluster-snapshot.js';
import type { Condition } from '../apis/meta.js';
import type { CachePolicyNode, CachePolicyTarget } from './cache-policy.js';
import { cachePolicyConditions } from './conditions/cache-policy.js';
import { compareAge } from './precedence.js';

/** Which policy governs each target. */
export interface CachePolicySettlement {
  /** By {@link CachePolicyTarget.key}. */
  readonly winners: ReadonlyMap<string, CachePolicyNode>;
  /** Of each policy, Accepted at each of its targets, in their order. */
  readonly accepted: ReadonlyMap<CachePolicyNode, readonly Condition[]>;
}

type Targets = Pick<ClusterSnapshot, 'Gateway' | 'HTTPRoute' | 'Service'>;

/** For each target the oldest usable policy; a faulty one governs nothing and is in nobody's way. */
export function settleCachePolicies(
  nodes: readonly CachePolicyNode[],
  targets: Targets,
): CachePolicySettlement {
  const winners = new Map<string, CachePolicyNode>();
  const accepted = new Map<CachePolicyNode, readonly Condition[]>();
  for (const node of [...nodes].sort(compareAge)) {
    const conditions = node.targets.map((target) => judge(node, target, winners, targets));
    for (const [index, target] of node.targets.entries())
      if (conditions[index]?.status === 'True') winners.set(target.key, node);
    accepted.set(node, conditions);
  }
  return { winners, accepted };
}

function judge(
  node: CachePolicyNode,
  target: CachePolicyTarget,
  winners: ReadonlyMap<string, CachePolicyNode>,
  targets: Targets,
): Condition {
  if (node.refused) return node.refused;
  const missing = findMissing(target, targets);
  if (missing !== undefined) return cachePolicyConditions.targetNotFound(missing);
  const winner = winners.get(target.key);
  return winner
    ? cachePolicyConditions.conflicted(describeTarget(target), winner.id)
    : cachePolicyConditions.accepted();
}

function findMissing({ kind, id, sectionName }: CachePolicyTarget, targets: Targets): string | undefined {
  const found = kind === 'Gateway' ? targets.Gateway.get(id) : sectionsOf(kind, id, targets);
  if (!found) return `${kind} ${id} in spec.targetRefs does not exist`;
  if (sectionName === undefined || !('sections' in found) || found.sections.includes(sectionName))
    return undefined;
  const section = kind === 'Service' ? 'port' : 'rule';
  return `${kind} ${id} in spec.targetRefs has no ${section} named "${sectionName}"`;
}

/** Names of the rules of a route or of the ports of a Service. */
function sectionsOf(
  kind: string,
  id: string,
  { HTTPRoute, Service }: Targets,
): { readonly sections: readonly string[] } | undefined {
  if (kind === 'Service') {
    const service = Service.get(id);
    return service && { sections: service.spec.ports.map(({ name }) => name) };
  }
  const route = HTTPRoute.get(id);
  return route && { sections: route.spec.rules.flatMap(({ name }) => name ?? []) };
}

export function describeTarget({ kind, id, sectionName }: CachePolicyTarget): string {
  if (sectionName === undefined) return `${kind} ${id}`;
  return `${kind === 'Service' ? 'port' : 'rule'} ${sectionName} of ${kind} ${id}`;
}
