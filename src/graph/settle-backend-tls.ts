import type { BackendTlsNode, BackendTlsTarget } from './backend-tls-policy.js';
import { backendTlsConditions } from './conditions/backend-tls-policy.js';
import { compareAge } from './precedence.js';
import type { BackendTarget } from './backend-ref.js';
import type { AncestorStatus } from './status-plan.js';
import { GATEWAY_GROUP } from '../apis/kinds.js';
import type { BackendUse } from './backend-use.js';

/** Which policy governs each Service and port. */
export interface BackendTlsSettlement {
  /** Winner by `namespace/name` of the Service, or that and `/` and the name of the port. */
  readonly winners: ReadonlyMap<string, BackendTlsNode>;
}

/**
 * One policy for each target: the oldest. A faulty policy keeps its target, because giving it to a younger one would
 * trust whom the older one does not.
 */
export function settleBackendTls(nodes: readonly BackendTlsNode[]): BackendTlsSettlement {
  const winners = new Map<string, BackendTlsNode>();
  for (const node of [...nodes].sort(compareAge)) {
    for (const target of node.targets) {
      const key = targetKey(target);
      if (!winners.has(key)) winners.set(key, node);
    }
  }
  return { winners };
}

/** The policy for what a route sends to: that of the port before that of the Service. */
export function backendTlsOf(
  { namespace, service, portName }: BackendTarget,
  { winners }: BackendTlsSettlement,
): BackendTlsNode | undefined {
  const id = `${namespace}/${service}`;
  return (portName === '' ? undefined : winners.get(`${id}/${portName}`)) ?? winners.get(id);
}

/** An entry for each Gateway whose routes send to what the policy targets, sorted. */
export function backendTlsAncestors(
  node: BackendTlsNode,
  { winners }: BackendTlsSettlement,
  use: BackendUse,
  controllerName: string,
): readonly AncestorStatus[] {
  const lostTo = (target: BackendTlsTarget): BackendTlsNode | undefined => {
    const winner = winners.get(targetKey(target));
    return winner === node ? undefined : winner;
  };
  const byGateway = new Map<string, BackendTlsTarget[]>();
  for (const target of node.targets) {
    for (const gateway of use.gatewaysOf(target.service, target.sectionName)) {
      const targets = byGateway.get(gateway);
      if (targets) targets.push(target);
      else byGateway.set(gateway, [target]);
    }
  }
  return [...byGateway.keys()].sort().map((gateway) => {
    const targets = byGateway.get(gateway) ?? [];
    const lost = targets.flatMap((target) => {
      const winner = lostTo(target);
      return winner ? [`${describe(target)} is governed by the older BackendTLSPolicy ${winner.id}`] : [];
    });
    const accepted = judge(node, lost, targets.length);
    const [namespace = '', name = ''] = gateway.split('/');
    return {
      ancestorRef: { group: GATEWAY_GROUP, kind: 'Gateway', namespace, name },
      controllerName,
      conditions: [accepted, node.resolvedRefs],
    };
  });
}

function judge(node: BackendTlsNode, lost: readonly string[], targets: number) {
  if (lost.length === 0) return node.accepted;
  if (lost.length === targets) return backendTlsConditions.conflicted(lost.join('; '));
  return node.accepted.status === 'True'
    ? backendTlsConditions.partlyConflicted(lost.join('; '))
    : node.accepted;
}

function targetKey({ service, sectionName }: BackendTlsTarget): string {
  return sectionName === undefined ? service : `${service}/${sectionName}`;
}

function describe({ service, sectionName }: BackendTlsTarget): string {
  return sectionName === undefined ? `Service ${service}` : `Port ${sectionName} of Service ${service}`;
}
