import type { Graph } from '../graph/graph.js';
import { Memo } from '../graph/memo.js';
import { compareAge } from '../graph/precedence.js';
import type { RouteNode } from '../graph/route.js';

/** Routes of a listener by the hostname for which they answer; the oldest first. */
export type RoutesByHostname = ReadonlyMap<string, readonly RouteNode[]>;

/** Collects the routes of each listener. The map of a listener is the same while its routes and hostnames are. */
export class AttachedRoutes {
  readonly #memo = new Memo<RoutesByHostname>();

  /** By listener key. Routes whose rules are all bad are there too: their matches answer 500. */
  collect({ routes }: Graph): ReadonlyMap<string, RoutesByHostname> {
    const entries = new Map<string, (RouteNode | readonly string[])[]>();
    for (const { route, parents } of routes) {
      for (const { listener, hostnames } of parents.flatMap(({ attached }) => attached)) {
        const list = entries.get(listener.key);
        if (list) list.push(route, hostnames);
        else entries.set(listener.key, [route, hostnames]);
      }
    }
    const collected = new Map<string, RoutesByHostname>();
    for (const [listener, list] of entries) {
      collected.set(
        listener,
        this.#memo.get(listener, list, () => byHostname(list)),
      );
    }
    this.#memo.endPass();
    return collected;
  }
}

/** `entries` holds a route and its hostnames in turn. */
function byHostname(entries: readonly (RouteNode | readonly string[])[]): RoutesByHostname {
  const routes = new Map<string, RouteNode[]>();
  let current: RouteNode | undefined;
  for (const entry of entries) {
    if ('key' in entry) current = entry;
    else if (current) for (const hostname of entry) addOnce(routes, hostname, current);
  }
  for (const list of routes.values()) if (list.length > 1) list.sort(compareAge);
  return routes;
}

/** Two parentRefs may lead a route to the same listener. */
function addOnce(routes: Map<string, RouteNode[]>, hostname: string, route: RouteNode): void {
  const list = routes.get(hostname);
  if (!list) routes.set(hostname, [route]);
  else if (list[list.length - 1] !== route) list.push(route);
}
