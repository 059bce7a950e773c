import type { Kind } from './kinds.js';
import type { ObjectsByKind } from './objects.js';

/** All objects of all kinds at one moment, each map by `namespace/name` or, for cluster-scoped kinds, `name`. */
export type ClusterSnapshot = { readonly [K in Kind]: ReadonlyMap<string, ObjectsByKind[K]> };

const NOTHING: ReadonlyMap<string, never> = new Map<string, never>();

/** A cluster without any object. */
export const EMPTY_CLUSTER: ClusterSnapshot = {
  GatewayClass: NOTHING,
  Gateway: NOTHING,
  ListenerSet: NOTHING,
  HTTPRoute: NOTHING,
  GRPCRoute: NOTHING,
  TLSRoute: NOTHING,
  TCPRoute: NOTHING,
  UDPRoute: NOTHING,
  ReferenceGrant: NOTHING,
  BackendTLSPolicy: NOTHING,
  XBackendTrafficPolicy: NOTHING,
  TricksterCachePolicy: NOTHING,
  AddressPool: NOTHING,
  Service: NOTHING,
  EndpointSlice: NOTHING,
  Secret: NOTHING,
  ConfigMap: NOTHING,
  Namespace: NOTHING,
};
