import type { Condition } from '../../../src/apis/meta.js';
import type {
  DesiredStatus,
  GatewayStatus,
  ListenerStatus,
  ObjectRef,
  ParentReference,
  PlannedStatus,
} from '../../../src/graph/status-plan.js';

export const CONTROLLER = 'trickstercache.org/gateway-controller';
export const OTHER = 'example.net/other';

export function condition(
  type: string,
  status: Condition['status'] = 'True',
  message = `${type} it is`,
): Condition {
  return { type, status, reason: status === 'True' ? type : `Not${type}`, message };
}

export function ref(name: string, namespace = 'infra'): ParentReference {
  return { group: 'gateway.networking.k8s.io', kind: 'Gateway', namespace, name };
}

export function routeStatus(...parents: readonly (readonly [string, ...Condition[]])[]): DesiredStatus {
  return {
    shape: 'route',
    parents: parents.map(([name, ...conditions]) => ({
      parentRef: ref(name),
      controllerName: CONTROLLER,
      conditions,
    })),
  };
}

export function listener(name: string, ...sockets: readonly string[]): ListenerStatus {
  return {
    name,
    supportedKinds: [{ group: 'gateway.networking.k8s.io', kind: 'HTTPRoute' }],
    attachedRoutes: 1,
    conditions: [condition('Accepted'), condition('Programmed')],
    sockets,
  };
}

export function gatewayStatus(...listeners: readonly ListenerStatus[]): GatewayStatus {
  return {
    shape: 'gateway',
    conditions: [condition('Accepted'), condition('Programmed')],
    addresses: [{ type: 'IPAddress', value: '192.0.2.1' }],
    listeners,
  };
}

export function planned(
  status: DesiredStatus,
  generation = 1,
  object: Partial<ObjectRef> = {},
): PlannedStatus {
  const kind = status.shape === 'route' ? 'HTTPRoute' : 'Gateway';
  return { object: { kind, namespace: 'ns', name: 'x', uid: 'uid-x', ...object }, generation, status };
}
