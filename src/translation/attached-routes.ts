import type { Graph } from '../graph/graph.js';
import { compareAge } from '../graph/precedence.js';
import type { RouteNode } from '../graph/route.js';

/** Routes of a listener by the hostname for which they answer; the oldest first. */
export type RoutesByHostname = ReadonlyMap<string, readonly RouteNode[]>;

/** By listener key. Routes whose rules are all bad are there too: their matches answer 500. */
export function collectAttached(graph: Graph): ReadonlyMap<string, RoutesByHostname> {
  const byListener = new Map<string, Map<string, RouteNode[]>>();
  for (const { route, parents } of graph.routes) {
    for (const { listener, hostnames } of parents.flatMap(({ attached }) => attached)) {
      const byHostname = byListener.get(listener.key) ?? new Map<string, RouteNode[]>();
      byListener.set(listener.key, byHostname);
      for (const hostname of hostnames) addOnce(byHostname, hostname, route);
    }
  }
  for (const byHostname of byListener.values()) {
    for (const routes of byHostname.values()) if (routes.length > 1) routes.sort(compareAge);
  }
  return byListener;
}

/** Two parentRefs may lead a route to the same listener. */
function addOnce(byHostname: Map<string, RouteNode[]>, hostname: string, route: RouteNode): void {
  const routes = byHostname.get(hostname);
  if (!routes) byHostname.set(hostname, [route]);
  else if (routes[routes.length - 1] !== route) routes.push(route);
}
