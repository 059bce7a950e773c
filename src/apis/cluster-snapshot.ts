import type { Kind } from './kinds.js';
import type { ObjectsByKind } from './objects.js';

/** All objects of all kinds at one moment, each map by `namespace/name` or, for cluster-scoped kinds, `name`. */
export type ClusterSnapshot = { readonly [K in Kind]: ReadonlyMap<string, ObjectsByKind[K]> };

const NOTHING: ReadonlyMap<string, never> = new Map<string, never>();

/** A cluster without any object. */
export const EMPTY_CLUSTER: ClusterSnapshot = clusterOf(() => NOTHING);

/** The cluster that has, of each kind, what `create` gives. */
export function clusterOf(
  create: <K extends Kind>(kind: K) => ReadonlyMap<string, ObjectsByKind[K]>,
): ClusterSnapshot {
  return {
    GatewayClass: create('GatewayClass'),
    Gateway: create('Gateway'),
    ListenerSet: create('ListenerSet'),
    HTTPRoute: create('HTTPRoute'),
    GRPCRoute: create('GRPCRoute'),
    TLSRoute: create('TLSRoute'),
    TCPRoute: create('TCPRoute'),
    UDPRoute: create('UDPRoute'),
    ReferenceGrant: create('ReferenceGrant'),
    BackendTLSPolicy: create('BackendTLSPolicy'),
    XBackendTrafficPolicy: create('XBackendTrafficPolicy'),
    TricksterCachePolicy: create('TricksterCachePolicy'),
    AddressPool: create('AddressPool'),
    Service: create('Service'),
    EndpointSlice: create('EndpointSlice'),
    Secret: create('Secret'),
    ConfigMap: create('ConfigMap'),
    Namespace: create('Namespace'),
  };
}
