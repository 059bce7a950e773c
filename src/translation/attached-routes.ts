import type { Graph } from '../graph/graph.js';
import { sameItems } from '../graph/memo.js';
import { compareAge } from '../graph/precedence.js';
import type { RouteNode, SettledRoute } from '../graph/route.js';
import { compareText } from '../util/collections.js';
import { listDifference } from '../util/differences.js';

/** Routes of a listener by the hostname for which they answer; the oldest first. */
export type RoutesByHostname = ReadonlyMap<string, readonly RouteNode[]>;

/**
 * Collects the routes of each listener. Only hostnames of routes that are other objects than in the pass before are
 * looked at: the list of a hostname is the same while its routes are, and the map of a listener while its lists are.
 */
export class AttachedRoutes {
  #routes: readonly SettledRoute[] = [];
  #listeners: ReadonlyMap<string, RoutesByHostname> = new Map();

  /** By listener key. Routes whose rules are all bad are there too: their matches answer 500. */
  collect({ routes }: Graph): ReadonlyMap<string, RoutesByHostname> {
    const changes = new Map<string, Map<string, HostChange>>();
    const { removed, added } = listDifference(this.#routes, routes);
    for (const route of removed) note(changes, route, 'leaving');
    for (const route of added) note(changes, route, 'arriving');
    this.#routes = routes;
    if (changes.size > 0) this.#listeners = amendListeners(this.#listeners, changes);
    return this.#listeners;
  }
}

/** What becomes of the routes of a hostname. */
interface HostChange {
  readonly leaving: RouteNode[];
  readonly arriving: RouteNode[];
}

function note(
  changes: Map<string, Map<string, HostChange>>,
  { route, parents }: SettledRoute,
  direction: keyof HostChange,
): void {
  for (const { listener, hostnames } of parents.flatMap(({ attached }) => attached)) {
    const hosts = changes.get(listener.key) ?? new Map<string, HostChange>();
    changes.set(listener.key, hosts);
    for (const hostname of hostnames) {
      const change = hosts.get(hostname) ?? { leaving: [], arriving: [] };
      hosts.set(hostname, change);
      // Two parentRefs may lead a route to the same listener.
      if (change[direction].at(-1) !== route) change[direction].push(route);
    }
  }
}

function amendListeners(
  before: ReadonlyMap<string, RoutesByHostname>,
  changes: ReadonlyMap<string, ReadonlyMap<string, HostChange>>,
): ReadonlyMap<string, RoutesByHostname> {
  const listeners = new Map(before);
  for (const [listener, hosts] of changes) {
    const routes = amendHosts(before.get(listener) ?? new Map<string, never>(), hosts);
    if (routes.size > 0) listeners.set(listener, routes);
    else listeners.delete(listener);
  }
  return listeners;
}

function amendHosts(before: RoutesByHostname, changes: ReadonlyMap<string, HostChange>): RoutesByHostname {
  let amended: Map<string, readonly RouteNode[]> | undefined;
  for (const [hostname, change] of changes) {
    const known = before.get(hostname) ?? [];
    const routes = amend(known, change);
    if (sameItems(known, routes)) continue;
    amended ??= new Map(before);
    if (routes.length > 0) amended.set(hostname, routes);
    else amended.delete(hostname);
  }
  return amended ?? before;
}

function amend(known: readonly RouteNode[], { leaving, arriving }: HostChange): readonly RouteNode[] {
  const gone = new Set(leaving);
  const routes = [...known.filter((route) => !gone.has(route)), ...arriving];
  return routes.length > 1 ? routes.sort(byPrecedence) : routes;
}

/** An HTTPRoute and a GRPCRoute may have the same age and name. */
function byPrecedence(a: RouteNode, b: RouteNode): number {
  return compareAge(a, b) || compareText(a.kind, b.kind);
}
