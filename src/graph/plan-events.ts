import type { Condition } from '../apis/meta.js';
import { compareText } from '../util/collections.js';
import type { Graph, SettledGateway, SettledListener, SettledListenerSet } from './graph.js';
import { describeFaults, describeRefusals, type SettledRoute } from './route.js';
import type { ObjectRef, PlannedEvent } from './status-plan.js';

/**
 * Everything a pass could not do with an object is a Warning on it. Sorted by object, then reason, then message.
 *
 * @param ofRoutes what {@link routeEvents} gives for the routes of the graph
 */
export function planEvents(graph: Graph, ofRoutes: readonly PlannedEvent[]): readonly PlannedEvent[] {
  const events = [
    ...graph.classes.map(({ ref, accepted }) => classEvent(ref, accepted)),
    ...graph.gateways.flatMap(gatewayEvents),
    ...graph.listenerSets.flatMap(listenerSetEvents),
    ...ofRoutes,
    ...graph.policies.traffic.flatMap(({ ref, accepted, gateways }) =>
      accepted.status === 'True' || gateways.length === 0
        ? []
        : [warn(ref, accepted.reason, accepted.message)],
    ),
  ];
  return distinct(events).sort(byObject);
}

/** Both lists as one, in the same order. */
export function withMore(
  events: readonly PlannedEvent[],
  more: readonly PlannedEvent[],
): readonly PlannedEvent[] {
  return more.length === 0 ? events : distinct([...events, ...more]).sort(byObject);
}

function classEvent(object: ObjectRef, accepted: Condition): PlannedEvent {
  const { status, reason, message } = accepted;
  return { object, type: status === 'True' ? 'Normal' : 'Warning', reason, message };
}

function gatewayEvents({ node, accepted, address, listeners }: SettledGateway): readonly PlannedEvent[] {
  const events = listeners.flatMap((listener) => listenerEvents(node.ref, listener));
  if (accepted.status !== 'True') events.push(warn(node.ref, 'Rejected', accepted.message));
  if (address.problem && !node.refused)
    events.push(warn(node.ref, address.problem.reason, address.problem.message));
  if (node.unresolved) events.push(warn(node.ref, 'InvalidCertificate', node.unresolved.message));
  return events;
}

function listenerSetEvents({ node, accepted, listeners }: SettledListenerSet): readonly PlannedEvent[] {
  const events = listeners.flatMap((listener) => listenerEvents(node.ref, listener));
  if (accepted.status !== 'True') events.push(warn(node.ref, 'Rejected', accepted.message));
  return events;
}

const CERTIFICATE_REASONS: ReadonlySet<string> = new Set([
  'InvalidCertificateRef',
  'InvalidCACertificateRef',
  'InvalidCACertificateKind',
  'RefNotPermitted',
]);

function listenerEvents(object: ObjectRef, { node, verdict }: SettledListener): PlannedEvent[] {
  const say = (reason: string, message: string): PlannedEvent =>
    warn(object, reason, `Listener ${node.name}: ${message}`);
  const events: PlannedEvent[] = [];
  if (verdict) events.push(say(verdict.conflicted.reason, verdict.conflicted.message));
  if (node.notAccepted) events.push(say('Rejected', node.notAccepted.message));
  if (node.unresolved) {
    const { reason, message } = node.unresolved;
    events.push(say(CERTIFICATE_REASONS.has(reason) ? 'InvalidCertificate' : 'Rejected', message));
  }
  for (const { warning } of node.tls?.certificates ?? []) {
    if (warning !== undefined) events.push(say('TLSSecret', warning));
  }
  return events;
}

export function routeEvents({ route, parents, refusals }: SettledRoute): readonly PlannedEvent[] {
  const events: PlannedEvent[] = [];
  const { faults, unresolved } = route.rules;
  if (faults.length > 0)
    events.push(warn(route.ref, 'UnsupportedFilter', `Dropped ${describeFaults(route.rules)}`));
  if (unresolved) {
    const reason = unresolved.reason === 'BackendNotFound' ? 'ServiceNotFound' : 'Rejected';
    events.push(warn(route.ref, reason, unresolved.message));
  }
  if (refusals.length > 0) events.push(warn(route.ref, 'HostnameConflict', describeRefusals(refusals)));
  for (const { accepted, conditions } of parents) {
    const [condition] = conditions;
    const isWildcard = condition?.reason === 'NotAllowedByListeners' && refusals.length > 0;
    if (!accepted && condition && !isWildcard && !OWN_EVENT.has(condition.reason)) {
      events.push(warn(route.ref, 'Rejected', condition.message));
    }
  }
  return events;
}

/** Reasons about which another Event tells already. */
const OWN_EVENT: ReadonlySet<string> = new Set([
  'HostnameConflict',
  'UnsupportedValue',
  'IncompatibleFilters',
]);

function warn(object: ObjectRef, reason: string, message: string): PlannedEvent {
  return { object, type: 'Warning', reason, message };
}

function distinct(events: readonly PlannedEvent[]): PlannedEvent[] {
  const byText = new Map(
    events.map((event) => {
      const { kind, namespace, name } = event.object;
      return [`${kind}/${namespace}/${name}/${event.reason}/${event.message}`, event] as const;
    }),
  );
  return [...byText.values()];
}

function byObject(a: PlannedEvent, b: PlannedEvent): number {
  return (
    compareText(a.object.kind, b.object.kind) ||
    compareText(a.object.namespace, b.object.namespace) ||
    compareText(a.object.name, b.object.name) ||
    compareText(a.reason, b.reason) ||
    compareText(a.message, b.message)
  );
}
