import { hostnameChain, coversHostname } from './hostname.js';
import { compareAge } from './precedence.js';
import type { HostRefusal, RouteNode } from './route.js';

/**
 * "If a Route (A) of type HTTPRoute or GRPCRoute is attached to a Listener and that listener already has another
 * Route (B) of the other type attached and the intersection of the hostnames of A and B is non-empty, then the
 * implementation MUST accept exactly one of these two routes": the older (GRPCRouteSpec.Hostnames).
 */
export function findMixedRoutes(
  routes: readonly RouteNode[],
  { refused, mayMix }: MixedRoutesRules,
): ReadonlyMap<string, readonly HostRefusal[]> {
  const lost = new Map<string, HostRefusal[]>();
  for (const [listener, members] of routesByMixedListener(routes)) {
    if (mayMix(listener)) continue;
    const held = { HTTPRoute: new Set<string>(), GRPCRoute: new Set<string>() };
    for (const { route, kind, hostnames } of members.sort((a, b) => compareAge(a.route, b.route))) {
      const wanted = hostnames.filter((hostname) => !refused(route, listener, hostname));
      const other = kind === 'HTTPRoute' ? 'GRPCRoute' : 'HTTPRoute';
      if (!wanted.some((hostname) => intersectsAny(hostname, held[other]))) {
        for (const hostname of wanted) held[kind].add(hostname);
        continue;
      }
      const refusals = lost.get(route.key) ?? [];
      lost.set(route.key, refusals);
      // The route is accepted or not as a whole.
      for (const hostname of hostnames) {
        const message = `has an older ${other} on the listener`;
        refusals.push({ listener, hostname, reason: 'HostnameConflict', message });
      }
    }
  }
  return lost;
}

export interface MixedRoutesRules {
  /** Which hostnames a route has lost already. */
  readonly refused: (route: RouteNode, listener: string, hostname: string) => boolean;
  /** Whether the class of the listener's Gateway allows both kinds (`allow_mixed_routes`). */
  readonly mayMix: (listener: string) => boolean;
}

interface Member {
  readonly route: RouteNode;
  readonly kind: 'HTTPRoute' | 'GRPCRoute';
  readonly hostnames: readonly string[];
}

/** Only listeners that have routes of both kinds. */
function routesByMixedListener(routes: readonly RouteNode[]): ReadonlyMap<string, Member[]> {
  const grpcListeners = new Set<string>();
  for (const route of routes) {
    if (route.kind !== 'GRPCRoute') continue;
    for (const { attached } of route.parents) {
      for (const { listener } of attached) grpcListeners.add(listener.key);
    }
  }
  const members = new Map<string, Member[]>();
  if (grpcListeners.size === 0) return members;
  for (const route of routes) {
    if (route.kind !== 'HTTPRoute' && route.kind !== 'GRPCRoute') continue;
    for (const { attached } of route.parents) {
      for (const { listener, hostnames } of attached) {
        if (!grpcListeners.has(listener.key)) continue;
        const list = members.get(listener.key) ?? [];
        members.set(listener.key, list);
        list.push({ route, kind: route.kind, hostnames });
      }
    }
  }
  return members;
}

function intersectsAny(hostname: string, held: ReadonlySet<string>): boolean {
  if (hostnameChain(hostname).some((one) => held.has(one))) return true;
  if (hostname !== '' && !hostname.startsWith('*.')) return false;
  return [...held].some((one) => coversHostname(hostname, one));
}
