import { GATEWAY_GROUP } from '../apis/kinds.js';
import type { Condition } from '../apis/meta.js';
import { gatewayConditions } from './conditions/gateway.js';
import { listenerConditions } from './conditions/listener.js';
import type { SettledGateway, SettledListener } from './graph.js';
import { intersectHostnames, printHostname } from './hostname.js';
import { socketKeysOf } from './socket.js';
import type { ListenerStatus } from './status-plan.js';

export function gatewayConditionsOf({
  node,
  accepted,
  address,
  listeners,
}: SettledGateway): readonly Condition[] {
  const conditions = [
    accepted,
    programmedOf(accepted, address.problem),
    resolvedOf(node.unresolved, listeners),
  ];
  // GEP-91: the condition must be there while the mode is on, and only then.
  if (node.insecureFallback) conditions.push(gatewayConditions.insecureFrontendValidation());
  return conditions;
}

function programmedOf(accepted: Condition, problem: Condition | undefined): Condition {
  if (accepted.status !== 'True') return gatewayConditions.notProgrammed();
  return problem ?? gatewayConditions.programmed();
}

function resolvedOf(own: Condition | undefined, listeners: readonly SettledListener[]): Condition {
  if (own) return own;
  const unresolved = listeners.filter(({ node }) => node.unresolved).map(({ node }) => node.name);
  return unresolved.length > 0
    ? gatewayConditions.listenersNotResolved(unresolved)
    : gatewayConditions.resolvedRefs();
}

export function listenerStatusOf(
  listener: SettledListener,
  gateway: SettledGateway,
  attachedRoutes: number,
  overlaps: ReadonlyMap<string, Condition>,
): ListenerStatus {
  const { node, verdict, served } = listener;
  const overlap = overlaps.get(node.key);
  return {
    name: node.name,
    supportedKinds: node.supportedKinds.map((kind) => ({ group: GATEWAY_GROUP, kind })),
    attachedRoutes,
    conditions: [
      verdict?.accepted ?? node.notAccepted ?? listenerConditions.accepted(),
      verdict?.conflicted ?? listenerConditions.noConflicts(),
      node.unresolved ?? listenerConditions.resolvedRefs(),
      programmedListener(listener, gateway),
      ...(overlap ? [overlap] : []),
    ],
    sockets: served ? socketKeysOf(node, gateway.address) : [],
  };
}

function programmedListener({ node, verdict, served }: SettledListener, gateway: SettledGateway): Condition {
  if (served) {
    // The last good certificate may still serve, but what was asked for is not programmed.
    const certificates = node.tls?.mode === 'terminate' ? node.tls.certificates : [];
    const onlyOld = certificates.length > 0 && certificates.every(({ problem }) => problem !== undefined);
    return onlyOld ? listenerConditions.notProgrammed() : listenerConditions.programmed();
  }
  if (verdict) return verdict.programmed;
  const isFine = node.servable && !node.notAccepted && gateway.accepted.status === 'True';
  return isFine && gateway.address.bind.length === 0
    ? listenerConditions.addressPending()
    : listenerConditions.notProgrammed();
}

/**
 * TLS listeners of a port between which a client may move with one HTTP/2 connection (GEP-3567). A listener without
 * a hostname overlaps with every other.
 */
export function overlapsOf(listeners: readonly SettledListener[]): ReadonlyMap<string, Condition> {
  const overlaps = new Map<string, Condition>();
  const tls = listeners.filter(({ node, verdict }) => node.tls?.mode === 'terminate' && !verdict);
  if (tls.length < 2) return overlaps;
  for (const { node } of tls) {
    const others = tls.filter((other) => other.node !== node && other.node.port === node.port);
    const hostnames = others
      .filter((other) => intersectHostnames(other.node.hostname, node.hostname) !== undefined)
      .map((other) => printHostname(other.node.hostname));
    const names = commonNames(node.tls?.certificates ?? [], others);
    if (hostnames.length > 0) {
      overlaps.set(node.key, listenerConditions.overlappingHostnames([...new Set(hostnames)].sort()));
    } else if (names.length > 0) {
      overlaps.set(node.key, listenerConditions.overlappingCertificates(names));
    }
  }
  return overlaps;
}

type Certificates = NonNullable<SettledListener['node']['tls']>['certificates'];

/** DNS names for which the certificates of other listeners are good as well. */
function commonNames(own: Certificates, others: readonly SettledListener[]): readonly string[] {
  const common = new Set<string>();
  for (const { pair } of own) {
    for (const name of pair?.names ?? []) {
      const isShared = others.some((other) =>
        other.node.tls?.certificates.some((one) =>
          one.pair?.names.some((theirs) => intersectHostnames(name, theirs) !== undefined),
        ),
      );
      if (isShared) common.add(name);
    }
  }
  return [...common].sort();
}
