import { compareText } from '../util/collections.js';
import { coversHostname, hostnameChain } from './hostname.js';
import { hostnameConflict, type Verdict } from './listener-conflicts.js';
import type { ListenerNode } from './listener.js';
import type { HostRefusal, RouteNode } from './route.js';

/**
 * Who serves a hostname on a port that Gateways of several namespaces share. Nothing in a request says which
 * Gateway it was meant for, so a hostname belongs to the namespace that claimed it first, and a wildcard keeps
 * newer claims of other namespaces from the hostnames below it.
 */
export interface Ownership {
  /** By listener key. */
  readonly listeners: ReadonlyMap<string, Verdict>;
  /** By route key, only for routes that lost something. */
  readonly routes: ReadonlyMap<string, readonly HostRefusal[]>;
}

/** What takes part: a listener that is served on the shared address. */
export interface SharedListener {
  readonly listener: ListenerNode;
  /** Of the class: lifts the rules between route namespaces. */
  readonly crossNamespacePaths: boolean;
}

interface Claim {
  readonly hostname: string;
  readonly listener: ListenerNode;
  readonly crossNamespacePaths: boolean;
  readonly createdAt: number;
  /** Ties go to Gateways before routes, then to the first id. */
  readonly id: string;
  readonly route?: RouteNode;
}

/**
 * A listener that loses its hostname is gone, and with it what it kept from the Gateway's broader listeners: their
 * routes then claim as well, so everything is settled again without it.
 */
export function settleOwnership(
  shared: ReadonlyMap<string, SharedListener>,
  routes: readonly RouteNode[],
): Ownership {
  const lost = new Map<string, string>();
  let left = shared;
  for (;;) {
    const outcome = settleClaims(left, routes);
    if (outcome.listeners.size === 0) {
      return {
        listeners: new Map([...lost].map(([key, problem]) => [key, hostnameConflict(problem)])),
        routes: withLostListeners(outcome.routes, routes, lost),
      };
    }
    for (const [key, problem] of outcome.listeners) lost.set(key, problem);
    left = new Map([...left].filter(([key]) => !lost.has(key)));
  }
}

interface Outcome {
  /** What is wrong with a listener, by its key. */
  readonly listeners: ReadonlyMap<string, string>;
  readonly routes: ReadonlyMap<string, readonly HostRefusal[]>;
}

function settleClaims(shared: ReadonlyMap<string, SharedListener>, routes: readonly RouteNode[]): Outcome {
  const listeners = new Map<string, string>();
  const lost = new Map<string, HostRefusal[]>();
  const ports = new Map<number, PortOwners>();
  for (const claim of collectClaims(shared, routes)) {
    const port = claim.listener.port;
    const owners = ports.get(port) ?? new PortOwners();
    ports.set(port, owners);
    const refusal = owners.claim(claim);
    if (!refusal) continue;
    if (claim.route) append(lost, claim.route.key, refusal);
    else listeners.set(claim.listener.key, `Hostname ${claim.hostname} ${refusal.message}`);
  }
  return { listeners, routes: lost };
}

/** What attaches to a listener that lost is not served there. */
function withLostListeners(
  refusals: Outcome['routes'],
  routes: readonly RouteNode[],
  lost: ReadonlyMap<string, string>,
): Outcome['routes'] {
  if (lost.size === 0) return refusals;
  const all = new Map([...refusals].map(([key, list]) => [key, [...list]]));
  for (const route of routes) {
    for (const { listener, hostname } of hostsOf(route)) {
      const problem = lost.get(listener.key);
      if (problem === undefined) continue;
      const message = `goes with listener ${listener.name}: ${problem}`;
      append(all, route.key, { listener: listener.key, hostname, reason: 'HostnameConflict', message });
    }
  }
  return all;
}

function append<V>(map: Map<string, V[]>, key: string, value: V): void {
  const list = map.get(key);
  if (list) list.push(value);
  else map.set(key, [value]);
}

/** Oldest first. */
function collectClaims(
  shared: ReadonlyMap<string, SharedListener>,
  routes: readonly RouteNode[],
): readonly Claim[] {
  const isolation = new Isolation([...shared.values()].map(({ listener }) => listener));
  const claims: Claim[] = [];
  for (const { listener, crossNamespacePaths } of shared.values()) {
    if (listener.hostname === '') continue;
    const { createdAt, namespace, name } = listener.owner;
    const id = `0/${namespace}/${name}/${listener.name}`;
    claims.push({ hostname: listener.hostname, listener, crossNamespacePaths, createdAt, id });
  }
  for (const route of routes) {
    const { createdAt } = route;
    const id = `1/${route.id}/${route.kind}`;
    for (const { listener, hostname } of hostsOf(route)) {
      const member = shared.get(listener.key);
      // Where a more specific listener of the Gateway answers the hostname is never served, so nothing is claimed.
      if (!member || isolation.listenerFor(listener, hostname) !== listener.hostname) continue;
      const { crossNamespacePaths } = member;
      claims.push({ hostname, listener, crossNamespacePaths, createdAt, id, route });
    }
  }
  return claims.sort((a, b) => a.createdAt - b.createdAt || compareText(a.id, b.id));
}

function hostsOf({ parents }: RouteNode) {
  return parents.flatMap(({ attached }) =>
    attached.flatMap(({ listener, hostnames }) => hostnames.map((hostname) => ({ listener, hostname }))),
  );
}

/** The hostnames of the listeners of each Gateway and port: the most specific one answers for a host alone. */
class Isolation {
  readonly #hostnames = new Map<string, Set<string>>();

  constructor(listeners: Iterable<ListenerNode>) {
    for (const listener of listeners) {
      const key = isolationKey(listener);
      const known = this.#hostnames.get(key);
      if (known) known.add(listener.hostname);
      else this.#hostnames.set(key, new Set([listener.hostname]));
    }
  }

  /** The hostname of the listener beside (or equal to) the given one that answers for every host of `hostname`. */
  listenerFor(listener: ListenerNode, hostname: string): string | undefined {
    const known = this.#hostnames.get(isolationKey(listener));
    if (known === undefined) return undefined;
    return known.size === 1 ? listener.hostname : hostnameChain(hostname).find((one) => known.has(one));
  }
}

function isolationKey(listener: ListenerNode): string {
  return `${listener.gateway}:${listener.port}`;
}

interface Owner {
  /** Namespace of the Gateway or ListenerSet. */
  readonly gatewayNamespace: string;
  /** Namespace of the routes that serve it; absent while only a listener claims it. */
  routeNamespace?: string;
}

class PortOwners {
  readonly #owners = new Map<string, Owner>();

  claim(claim: Claim): HostRefusal | undefined {
    const { hostname, listener, route } = claim;
    const refused = (reason: HostRefusal['reason'], message: string): HostRefusal => ({
      listener: listener.key,
      hostname,
      reason,
      message,
    });
    const wildcard = this.#wildcardAbove(claim);
    if (wildcard !== undefined) {
      return refused('NotAllowedByListeners', `is under ${wildcard}, which another namespace owns`);
    }
    const owner = this.#owners.get(hostname);
    const gatewayNamespace = listener.owner.namespace;
    if (!owner) {
      this.#owners.set(
        hostname,
        route ? { gatewayNamespace, routeNamespace: route.namespace } : { gatewayNamespace },
      );
      return undefined;
    }
    if (owner.gatewayNamespace !== gatewayNamespace) {
      return refused('HostnameConflict', `belongs to a Gateway of namespace ${owner.gatewayNamespace}`);
    }
    if (!route) return undefined;
    owner.routeNamespace ??= route.namespace;
    if (owner.routeNamespace === route.namespace || claim.crossNamespacePaths) return undefined;
    return refused('HostnameConflict', `belongs to the routes of namespace ${owner.routeNamespace}`);
  }

  /** The wildcard of another namespace that keeps the claim out. */
  #wildcardAbove(claim: Claim): string | undefined {
    return wildcardsAbove(claim).find((wildcard) => {
      const owner = this.#owners.get(wildcard);
      return owner !== undefined && keepsOut(owner, claim);
    });
  }
}

/** The wildcards over a hostname whose owners have a say. */
function wildcardsAbove({ hostname, listener, route }: Claim): readonly string[] {
  const above = hostnameChain(hostname).filter((one) => one !== hostname && one !== '');
  if (!route || listener.hostname === '') return above;
  // The listener's own claim has passed this rule: it delegates what is below its hostname.
  return above.filter((wildcard) => !coversHostname(wildcard, listener.hostname));
}

function keepsOut(owner: Owner, { listener, route, crossNamespacePaths }: Claim): boolean {
  if (owner.gatewayNamespace !== listener.owner.namespace) return true;
  if (!route || owner.routeNamespace === undefined) return false;
  return owner.routeNamespace !== route.namespace && !crossNamespacePaths;
}
