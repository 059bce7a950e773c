import type { Kind } from '../kinds.js';
import type { ObjectsByKind } from '../objects.js';
import { addressRanges } from './address-pool.js';
import { distinctTargets, oneTrustAnchor, subjectAltNameFields } from './backend-tls-policy.js';
import { retryIntervals, trafficSession } from './backend-traffic-policy.js';
import {
  configMapData,
  endpointAddresses,
  nameIsLabel,
  secretData,
  servicePorts,
  sliceOfService,
} from './core.js';
import { gatewayAddresses, infrastructureKeys } from './gateway.js';
import { grpcRules } from './grpc-route.js';
import { httpRules } from './http-route.js';
import { listenerRules } from './listeners.js';
import { backendPorts, boundedMatches, distinctParents, uniqueRuleNames } from './routes.js';
import type { Rule } from './rule.js';
import { hostnamesAreNames } from './tls-route.js';
import { headerOperations, sessionTimes, usableTargets } from './trickster-cache-policy.js';

/** The rules of each kind beyond its schema. */
export const RULES: { readonly [K in Kind]: readonly Rule<ObjectsByKind[K]>[] } = {
  GatewayClass: [],
  Gateway: [listenerRules, gatewayAddresses, infrastructureKeys],
  ListenerSet: [listenerRules],
  HTTPRoute: [distinctParents, uniqueRuleNames, boundedMatches, backendPorts, httpRules],
  GRPCRoute: [distinctParents, uniqueRuleNames, boundedMatches, backendPorts, grpcRules],
  TLSRoute: [distinctParents, backendPorts, hostnamesAreNames],
  TCPRoute: [distinctParents, backendPorts],
  UDPRoute: [distinctParents, backendPorts],
  ReferenceGrant: [],
  BackendTLSPolicy: [distinctTargets, oneTrustAnchor, subjectAltNameFields],
  XBackendTrafficPolicy: [retryIntervals, trafficSession],
  TricksterCachePolicy: [usableTargets, headerOperations, sessionTimes],
  AddressPool: [addressRanges],
  Service: [nameIsLabel, servicePorts],
  EndpointSlice: [endpointAddresses, sliceOfService],
  Secret: [secretData],
  ConfigMap: [configMapData],
  Namespace: [nameIsLabel],
};
