import type { ParentRef } from '../apis/gateway/references.js';
import { GATEWAY_GROUP } from '../apis/kinds.js';
import type { Condition } from '../apis/meta.js';
import { routeConditions } from './conditions/route.js';
import type { Scope } from './context.js';
import { toExactLength } from '../util/collections.js';
import { intersectHostnames, normalizeHostname } from './hostname.js';
import { selects } from './label-selector.js';
import type { ListenerNode, RouteKind } from './listener.js';
import type { ParentReference } from './status-plan.js';

/** A `parentRefs` entry that names one of our Gateways or ListenerSets. */
export interface ParentNode {
  readonly ref: ParentReference;
  /** Where the route attaches; empty when it is refused. */
  readonly attached: readonly AttachedListener[];
  /** Why Accepted is False. */
  readonly refused?: Condition;
}

export interface AttachedListener {
  readonly listener: ListenerNode;
  /** What the hostnames of listener and route have in common; `['']` for any. */
  readonly hostnames: readonly string[];
}

/** What decides where a route attaches, the same for all kinds of routes. */
interface AttachingRoute {
  readonly kind: RouteKind;
  readonly namespace: string;
  readonly parentRefs: readonly ParentRef[];
  /** As written; undefined for kinds without hostnames. */
  readonly hostnames?: readonly string[] | undefined;
}

/** One node for each parentRef that is ours. Others get no status: they belong to somebody else. */
export function attachRoute(route: AttachingRoute, scope: Scope): readonly ParentNode[] {
  const parents: ParentNode[] = [];
  for (const parentRef of route.parentRefs) {
    const candidates = listenersOf(parentRef, route, scope);
    if (!candidates) continue;
    const ref = fillIn(parentRef, route.namespace);
    const found = attach(parentRef, route, candidates, scope);
    parents.push('type' in found ? { ref, attached: [], refused: found } : { ref, attached: found });
  }
  return toExactLength(parents);
}

/** The parentRef as its status entry repeats it: the helper of the conformance suite compares every field. */
function fillIn(parentRef: ParentRef, routeNamespace: string): ParentReference {
  const { group, kind, namespace = routeNamespace, name, sectionName, port } = parentRef;
  return {
    group,
    kind,
    namespace,
    name,
    ...(sectionName !== undefined && { sectionName }),
    ...(port !== undefined && { port }),
  };
}

/** The listeners of the parent; a Gateway does not lend those of its ListenerSets (GEP-1713). */
function listenersOf(
  { group, kind, namespace, name }: ParentRef,
  route: AttachingRoute,
  { lookup }: Scope,
): readonly ListenerNode[] | undefined {
  if (group !== GATEWAY_GROUP) return undefined;
  const key = `${namespace ?? route.namespace}/${name}`;
  if (kind === 'Gateway') return lookup.find('gateways', key)?.listeners;
  if (kind !== 'ListenerSet') return undefined;
  const listenerSet = lookup.find('listenerSets', key);
  // A set that its Gateway does not let in is part of nothing.
  return listenerSet && (listenerSet.allowed ? listenerSet.listeners : []);
}

function attach(
  parentRef: ParentRef,
  route: AttachingRoute,
  listeners: readonly ListenerNode[],
  scope: Scope,
): readonly AttachedListener[] | Condition {
  const { sectionName, port } = parentRef;
  const selected = listeners.filter(
    (listener) =>
      (sectionName === undefined || listener.name === sectionName) &&
      (port === undefined || listener.port === port),
  );
  if (selected.length === 0) return routeConditions.noMatchingParent(describeMiss(parentRef));

  const allowing = selected.filter(
    (listener) =>
      listener.supportedKinds.includes(route.kind) && allowsNamespace(listener, route.namespace, scope),
  );
  if (allowing.length === 0) return routeConditions.notAllowedByListeners(describeRefusal(selected, route));

  const attached: AttachedListener[] = [];
  for (const listener of allowing) {
    const hostnames = commonHostnames(listener.hostname, route.hostnames);
    if (hostnames.length > 0) attached.push({ listener, hostnames });
  }
  if (attached.length > 0) return toExactLength(attached);
  return routeConditions.noMatchingListenerHostname(route.hostnames ?? []);
}

/** Every hostname for which the route answers through the listener, sorted, each once. */
function commonHostnames(
  listenerHostname: string,
  routeHostnames: readonly string[] | undefined,
): readonly string[] {
  if (routeHostnames === undefined || routeHostnames.length === 0) return [listenerHostname];
  const common = new Set<string>();
  for (const hostname of routeHostnames) {
    const both = intersectHostnames(listenerHostname, normalizeHostname(hostname));
    if (both !== undefined) common.add(both);
  }
  return [...common].sort();
}

function allowsNamespace({ namespaces, owner }: ListenerNode, namespace: string, { lookup }: Scope): boolean {
  switch (namespaces.from) {
    case 'All':
      return true;
    case 'Same':
      return namespace === owner.namespace;
    case 'Selector': {
      const labels = lookup.find('namespaces', namespace)?.metadata.labels;
      return (
        namespaces.selector !== undefined && labels !== undefined && selects(namespaces.selector, labels)
      );
    }
    default:
      return false;
  }
}

function describeMiss({ kind, name, sectionName, port }: ParentRef): string {
  const wanted = [
    ...(sectionName === undefined ? [] : [`name ${sectionName}`]),
    ...(port === undefined ? [] : [`port ${port}`]),
  ];
  return wanted.length === 0
    ? `parentRefs: ${kind} ${name} has no listener`
    : `parentRefs: ${kind} ${name} has no listener with ${wanted.join(' and ')}`;
}

function describeRefusal(selected: readonly ListenerNode[], route: AttachingRoute): string {
  const names = selected.map(({ name }) => name).join(', ');
  return `parentRefs: listeners ${names} do not allow ${route.kind}s of namespace ${route.namespace}`;
}
