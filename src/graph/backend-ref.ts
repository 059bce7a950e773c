import type { Service, ServicePort } from '../apis/core/service.js';
import type { BackendObjectReference } from '../apis/gateway/references.js';
import { GATEWAY_GROUP } from '../apis/kinds.js';
import type { Condition } from '../apis/meta.js';
import { routeConditions } from './conditions/route.js';
import type { Scope } from './context.js';
import type { RouteKind } from './listener.js';
import { isPermitted } from './reference-grant.js';

/** A port of a Service that a route may send to. */
export interface BackendTarget {
  readonly namespace: string;
  readonly service: string;
  readonly port: number;
  /** `''` when the only port has none: EndpointSlices name their ports alike. */
  readonly portName: string;
  readonly transport: 'TCP' | 'UDP';
  readonly appProtocol: AppProtocol;
}

/** GEP-1911; unknown values are plain HTTP/1.1. */
type AppProtocol = 'http' | 'h2c' | 'ws' | 'wss';

export type ResolvedBackend = { readonly target: BackendTarget } | { readonly problem: Condition };

/** Follows a reference to a Service: permission first, then kind, then existence. */
export function resolveBackend(
  ref: BackendObjectReference,
  from: { readonly kind: RouteKind; readonly namespace: string; readonly field: string },
  scope: Scope,
): ResolvedBackend {
  const namespace = ref.namespace ?? from.namespace;
  const key = `${namespace}/${ref.name}`;
  const referrer = { group: GATEWAY_GROUP, kind: from.kind, namespace: from.namespace };
  const referent = { group: ref.group, kind: ref.kind, namespace, name: ref.name };
  if (!isPermitted(referrer, referent, scope.lookup.find('grants', namespace) ?? [])) {
    return refuse(routeConditions.refNotPermitted, [
      from.field,
      `no ReferenceGrant in namespace ${namespace} permits ${ref.kind} ${key}`,
    ]);
  }
  if (ref.group !== '' || ref.kind !== 'Service') {
    return refuse(routeConditions.invalidKind, [
      from.field,
      `${ref.kind} of group "${ref.group}" is no backend, only a core Service is`,
    ]);
  }
  const service = scope.lookup.find('services', key);
  if (!service) return refuse(routeConditions.backendNotFound, [from.field, `Service ${key} does not exist`]);
  // An ExternalName may point past every ReferenceGrant, so it is no backend.
  if (service.spec.type === 'ExternalName') {
    return refuse(routeConditions.invalidKind, [
      from.field,
      `Service ${key} is of type ExternalName, which is not supported`,
    ]);
  }
  const port = findPort(service, ref.port, from.kind);
  if (!port) {
    const missing = ref.port === undefined ? 'no port is given' : `has no port ${ref.port}`;
    return refuse(routeConditions.backendNotFound, [from.field, `Service ${key} ${missing}`]);
  }
  return { target: toTarget(service, port) };
}

function refuse(
  outcome: (problem: string) => Condition,
  [field, problem]: readonly [string, string],
): ResolvedBackend {
  return { problem: outcome(`${field}: ${problem}`) };
}

/** One number may be a TCP and a UDP port: the kind of route says which is meant. */
function findPort(service: Service, port: number | undefined, kind: RouteKind): ServicePort | undefined {
  const protocol = kind === 'UDPRoute' ? 'UDP' : 'TCP';
  return service.spec.ports.find((candidate) => candidate.port === port && candidate.protocol === protocol);
}

function toTarget({ metadata }: Service, port: ServicePort): BackendTarget {
  return {
    namespace: metadata.namespace,
    service: metadata.name,
    port: port.port,
    portName: port.name,
    transport: port.protocol === 'UDP' ? 'UDP' : 'TCP',
    appProtocol: toAppProtocol(port.appProtocol),
  };
}

function toAppProtocol(text: string | undefined): AppProtocol {
  switch (text) {
    case 'kubernetes.io/h2c':
      return 'h2c';
    case 'kubernetes.io/ws':
      return 'ws';
    case 'kubernetes.io/wss':
      return 'wss';
    default:
      return 'http';
  }
}
