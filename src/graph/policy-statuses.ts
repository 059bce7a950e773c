import type { CachePolicyNode, CachePolicyTarget } from './cache-policy.js';
import { cachePolicyConditions } from './conditions/cache-policy.js';
import type { Condition } from '../apis/meta.js';
import { describeTarget, type CachePolicySettlement } from './settle-cache-policies.js';
import type { AncestorStatus, PlannedEvent } from './status-plan.js';
import type { BackendTlsNode } from './backend-tls-policy.js';

/** Keys of targets, over all routes. */
export interface CachePolicyReach {
  readonly reached: ReadonlySet<string>;
  readonly effective: ReadonlySet<string>;
}

/** An entry for each target, in their order. */
export function cachePolicyAncestors(
  node: CachePolicyNode,
  { accepted }: CachePolicySettlement,
  reach: CachePolicyReach,
  controllerName: string,
): readonly AncestorStatus[] {
  const conditions = accepted.get(node) ?? [];
  const entries = new Map<string, AncestorStatus>();
  for (const [index, target] of node.targets.entries()) {
    const verdict = conditions[index] ?? cachePolicyConditions.accepted();
    const effective = effectiveOf(target, verdict, reach);
    const { ancestor: ancestorRef, key } = target;
    // A target that is named twice has one entry.
    if (!entries.has(key))
      entries.set(key, {
        ancestorRef,
        controllerName,
        conditions: [verdict, ...effective, node.resolvedRefs],
      });
  }
  return [...entries.values()];
}

/** Tells an inert policy from a working one; a policy that is not accepted has said why already. */
function effectiveOf(
  target: CachePolicyTarget,
  { status }: Condition,
  { reached, effective }: CachePolicyReach,
): readonly Condition[] {
  if (status !== 'True') return [];
  if (effective.has(target.key)) return [cachePolicyConditions.effective()];
  const name = describeTarget(target);
  return [
    reached.has(target.key) ? cachePolicyConditions.overridden(name) : cachePolicyConditions.notClaimed(name),
  ];
}

/** A Warning for each ancestor at which the policy is not accepted or has a bad reference. */
export function policyEvents(
  { ref }: CachePolicyNode | BackendTlsNode,
  ancestors: readonly AncestorStatus[],
): readonly PlannedEvent[] {
  return ancestors.flatMap(({ conditions }) => {
    const bad = (type: string): Condition | undefined =>
      conditions.find((one) => one.type === type && one.status === 'False');
    const fault = bad('Accepted') ?? bad('ResolvedRefs');
    return fault ? [{ object: ref, type: 'Warning', reason: fault.reason, message: fault.message }] : [];
  });
}
