import type { ClusterSnapshot } from '../apis/cluster-snapshot.js';
import type { BackendTrafficPolicy } from '../apis/gateway/backend-traffic-policy.js';
import { GATEWAY_GROUP } from '../apis/kinds.js';
import type { Condition } from '../apis/meta.js';
import { faultOf, winnerOf } from './backend-traffic-policy.js';
import type { BackendUse } from './backend-use.js';
import { trafficPolicyConditions } from './conditions/policy.js';
import { objectRefOf } from './object-ref.js';
import type { AncestorStatus, ObjectRef } from './status-plan.js';

/** An XBackendTrafficPolicy with what its status says. */
export interface TrafficPolicyNode {
  readonly ref: ObjectRef;
  readonly generation: number;
  readonly accepted: Condition;
  /** `namespace/name` of the Gateways that send to what it governs, sorted. */
  readonly gateways: readonly string[];
}

export function examineTrafficPolicy(
  policy: BackendTrafficPolicy,
  use: BackendUse,
  find: {
    readonly services: ClusterSnapshot['Service'];
    readonly policiesOf: (service: string) => readonly BackendTrafficPolicy[];
  },
): TrafficPolicyNode {
  const services = policy.spec.targetRefs.map(({ name }) => `${policy.metadata.namespace}/${name}`);
  const gateways = new Set(services.flatMap((service) => [...use.gatewaysOf(service)]));
  return {
    ref: objectRefOf('XBackendTrafficPolicy', policy),
    generation: policy.metadata.generation ?? 0,
    accepted: judge(policy, services, find),
    gateways: [...gateways].sort(),
  };
}

function judge(
  policy: BackendTrafficPolicy,
  services: readonly string[],
  { services: existing, policiesOf }: Parameters<typeof examineTrafficPolicy>[2],
): Condition {
  const fault = faultOf(policy);
  if (fault !== undefined) return trafficPolicyConditions.invalid(fault);
  const missing = services.find((service) => !existing.has(service));
  if (missing !== undefined) return trafficPolicyConditions.targetNotFound(`Service ${missing}`);
  for (const service of services) {
    const winner = winnerOf(policiesOf(service));
    if (winner && winner !== policy) {
      const { namespace, name } = winner.metadata;
      return trafficPolicyConditions.conflicted(`${namespace}/${name}`);
    }
  }
  return trafficPolicyConditions.accepted();
}

/** An entry for each Gateway that sends to what the policy governs. */
export function trafficPolicyAncestors(
  { accepted, gateways }: TrafficPolicyNode,
  controllerName: string,
): readonly AncestorStatus[] {
  return gateways.map((gateway) => {
    const [namespace = '', name = ''] = gateway.split('/');
    return {
      ancestorRef: { group: GATEWAY_GROUP, kind: 'Gateway', namespace, name },
      controllerName,
      conditions: [accepted],
    };
  });
}
