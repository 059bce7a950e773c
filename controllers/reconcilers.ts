import type { Newable } from 'inversify';

import type { Kind } from '../src/apis/kinds.js';
import type { ResourceSource } from '../src/kube/resource-source.js';
import { AddressPoolReconciler } from './address-pool.js';
import { BackendTlsPolicyReconciler } from './backend-tls-policy.js';
import { BackendTrafficPolicyReconciler } from './backend-traffic-policy.js';
import { ConfigMapReconciler } from './config-map.js';
import { EndpointSliceReconciler } from './endpoint-slice.js';
import { GatewayReconciler } from './gateway.js';
import { GatewayClassReconciler } from './gateway-class.js';
import { GrpcRouteReconciler } from './grpc-route.js';
import { HttpRouteReconciler } from './http-route.js';
import { ListenerSetReconciler } from './listener-set.js';
import { NamespaceReconciler } from './namespace.js';
import { ReferenceGrantReconciler } from './reference-grant.js';
import { SecretReconciler } from './secret.js';
import { ServiceReconciler } from './service.js';
import { TcpRouteReconciler } from './tcp-route.js';
import { TlsRouteReconciler } from './tls-route.js';
import { TricksterCachePolicyReconciler } from './trickster-cache-policy.js';
import { UdpRouteReconciler } from './udp-route.js';

/** One reconciler for each kind. */
export const RECONCILERS = {
  GatewayClass: GatewayClassReconciler,
  Gateway: GatewayReconciler,
  ListenerSet: ListenerSetReconciler,
  HTTPRoute: HttpRouteReconciler,
  GRPCRoute: GrpcRouteReconciler,
  TLSRoute: TlsRouteReconciler,
  TCPRoute: TcpRouteReconciler,
  UDPRoute: UdpRouteReconciler,
  ReferenceGrant: ReferenceGrantReconciler,
  BackendTLSPolicy: BackendTlsPolicyReconciler,
  XBackendTrafficPolicy: BackendTrafficPolicyReconciler,
  TricksterCachePolicy: TricksterCachePolicyReconciler,
  AddressPool: AddressPoolReconciler,
  Service: ServiceReconciler,
  EndpointSlice: EndpointSliceReconciler,
  Secret: SecretReconciler,
  ConfigMap: ConfigMapReconciler,
  Namespace: NamespaceReconciler,
} as const satisfies Readonly<Record<Kind, Newable<ResourceSource>>>;
