import type { ConfigMap } from '../apis/core/config-map.js';
import type { Namespace } from '../apis/core/namespace.js';
import type { Secret } from '../apis/core/secret.js';
import type { Service } from '../apis/core/service.js';
import type { BackendTrafficPolicy } from '../apis/gateway/backend-traffic-policy.js';
import type { ReferenceGrant } from '../apis/gateway/reference-grant.js';
import type { ClassNode } from './gateway-class.js';
import type { GatewayNode } from './gateway.js';
import type { ListenerSetNode } from './listener-set.js';
import type { Lookup } from './lookup.js';

/** The tables that computations of the graph look things up in. */
export interface Rows {
  readonly namespaces: Namespace;
  readonly services: Service;
  readonly secrets: Secret;
  readonly configMaps: ConfigMap;
  /** By the namespace they open. */
  readonly grants: readonly ReferenceGrant[];
  /** Those that govern a Service, the winner of each setting first; by `namespace/name` of the Service. */
  readonly trafficPolicies: readonly BackendTrafficPolicy[];
  /** Classes that are ours, by name. */
  readonly classes: ClassNode;
  /** Gateways of our classes, by `namespace/name`. */
  readonly gateways: GatewayNode;
  /** ListenerSets of our Gateways, by `namespace/name`. */
  readonly listenerSets: ListenerSetNode;
}

export type GraphLookup = Lookup<Rows>;
