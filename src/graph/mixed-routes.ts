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
    for (const { route, refusals } of findLosers(listener, members, refused)) {
      lost.set(route.key, [...(lost.get(route.key) ?? []), ...refusals]);
    }
  }
  return lost;
}

function findLosers(
  listener: string,
  members: readonly Member[],
  refused: MixedRoutesRules['refused'],
): readonly { readonly route: RouteNode; readonly refusals: readonly HostRefusal[] }[] {
  const held = { HTTPRoute: new Set<string>(), GRPCRoute: new Set<string>() };
  return [...members]
    .sort((a, b) => compareAge(a.route, b.route))
    .flatMap(({ route, kind, hostnames }) => {
      const wanted = hostnames.filter((hostname) => !refused(route, listener, hostname));
      const other = kind === 'HTTPRoute' ? 'GRPCRoute' : 'HTTPRoute';
      if (!wanted.some((hostname) => intersectsAny(hostname, held[other]))) {
        for (const hostname of wanted) held[kind].add(hostname);
        return [];
      }
      // The route is accepted or not as a whole.
      const message = `has an older ${other} on the listener`;
      const reason = 'HostnameConflict';
      return { route, refusals: hostnames.map((hostname) => ({ listener, hostname, reason, message })) };
    });
}

interface MixedRoutesRules {
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
    if (route.kind === 'GRPCRoute')
      for (const { listener } of attachedOf(route)) grpcListeners.add(listener.key);
  }
  const members = new Map<string, Member[]>();
  if (grpcListeners.size === 0) return members;
  for (const route of routes) {
    const { kind } = route;
    if (kind !== 'HTTPRoute' && kind !== 'GRPCRoute') continue;
    for (const { listener, hostnames } of attachedOf(route)) {
      if (!grpcListeners.has(listener.key)) continue;
      members.set(listener.key, [...(members.get(listener.key) ?? []), { route, kind, hostnames }]);
    }
  }
  return members;
}

function attachedOf({ parents }: RouteNode) {
  return parents.flatMap(({ attached }) => attached);
}

function intersectsAny(hostname: string, held: ReadonlySet<string>): boolean {
  if (hostnameChain(hostname).some((one) => held.has(one))) return true;
  if (hostname !== '' && !hostname.startsWith('*.')) return false;
  return [...held].some((one) => coversHostname(hostname, one));
}
