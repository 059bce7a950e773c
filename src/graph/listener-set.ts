import type { Gateway } from '../apis/gateway/gateway.js';
import type { ListenerSet } from '../apis/gateway/listener-set.js';
import { GATEWAY_GROUP } from '../apis/kinds.js';
import type { Scope } from './context.js';
import type { GatewayNode, GatewayScope } from './gateway.js';
import { selects } from './label-selector.js';
import { examineListener, type ListenerNode, type ListenerOwner } from './listener.js';
import { objectRefOf } from './object-ref.js';
import { createdAtOf, type Aged } from './precedence.js';
import type { ObjectRef } from './status-plan.js';

/** A ListenerSet whose parent is one of our Gateways (GEP-1713). */
export interface ListenerSetNode extends Aged {
  readonly ref: ObjectRef;
  readonly generation: number;
  /** `namespace/name` of the parent. */
  readonly gateway: string;
  /** Whether `spec.allowedListeners` of the parent lets it in. */
  readonly allowed: boolean;
  readonly listeners: readonly ListenerNode[];
}

/** `namespace/name` of the Gateway it wants to be part of; undefined when the parent is no Gateway. */
export function parentOf({ metadata, spec }: ListenerSet): string | undefined {
  const { group, kind, namespace, name } = spec.parentRef;
  if (group !== GATEWAY_GROUP || kind !== 'Gateway') return undefined;
  return `${namespace ?? metadata.namespace}/${name}`;
}

export function examineListenerSet(
  listenerSet: ListenerSet,
  parent: { readonly node: GatewayNode; readonly gateway: Gateway },
  scope: Scope,
): ListenerSetNode {
  const { metadata, spec } = listenerSet;
  const owner: ListenerOwner = {
    kind: 'ListenerSet',
    namespace: metadata.namespace,
    name: metadata.name,
    createdAt: createdAtOf(listenerSet),
  };
  const inner: GatewayScope = { ...scope, gateway: parent.gateway, parameters: parent.node.parameters };
  return {
    id: `${metadata.namespace}/${metadata.name}`,
    createdAt: owner.createdAt,
    ref: objectRefOf('ListenerSet', listenerSet),
    generation: metadata.generation ?? 0,
    gateway: parent.node.id,
    allowed: isAllowed(metadata.namespace, parent, scope),
    listeners: spec.listeners.map((listener) => examineListener(listener, owner, inner)),
  };
}

function isAllowed(
  namespace: string,
  { node, gateway }: { readonly node: GatewayNode; readonly gateway: Gateway },
  { lookup }: Scope,
): boolean {
  const { from, selector } = node.allowedListeners;
  switch (from) {
    case 'All':
      return true;
    case 'Same':
      return namespace === gateway.metadata.namespace;
    case 'Selector': {
      const labels = lookup.find('namespaces', namespace)?.metadata.labels;
      return selector !== undefined && labels !== undefined && selects(selector, labels);
    }
    default:
      return false;
  }
}
