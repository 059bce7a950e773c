import type { ConfigMap, EndpointSlice, Namespace, Secret, Service } from './core/index.js';
import type {
  BackendTlsPolicy,
  BackendTrafficPolicy,
  Gateway,
  GatewayClass,
  GrpcRoute,
  HttpRoute,
  ListenerSet,
  ReferenceGrant,
  TcpRoute,
  TlsRoute,
  UdpRoute,
} from './gateway/index.js';
import type { AddressPool } from './infra/address-pool.js';
import type { Kind } from './kinds.js';
import type { KubernetesObject } from './meta.js';
import type { TricksterCachePolicy } from './policy/trickster-cache-policy.js';

/** What an object of each kind is. */
export interface ObjectsByKind extends Record<Kind, KubernetesObject> {
  readonly GatewayClass: GatewayClass;
  readonly Gateway: Gateway;
  readonly ListenerSet: ListenerSet;
  readonly HTTPRoute: HttpRoute;
  readonly GRPCRoute: GrpcRoute;
  readonly TLSRoute: TlsRoute;
  readonly TCPRoute: TcpRoute;
  readonly UDPRoute: UdpRoute;
  readonly ReferenceGrant: ReferenceGrant;
  readonly BackendTLSPolicy: BackendTlsPolicy;
  readonly XBackendTrafficPolicy: BackendTrafficPolicy;
  readonly TricksterCachePolicy: TricksterCachePolicy;
  readonly AddressPool: AddressPool;
  readonly Service: Service;
  readonly EndpointSlice: EndpointSlice;
  readonly Secret: Secret;
  readonly ConfigMap: ConfigMap;
  readonly Namespace: Namespace;
}

/** An object of any of the kinds; `kind` tells which. */
export type AnyObject = ObjectsByKind[Kind];

/** The kind of an object tells its type. */
export function isOfKind<K extends Kind>(kind: K, object: AnyObject): object is ObjectsByKind[K] {
  return object.kind === kind;
}
