import type { GatewayNode } from './gateway.js';
import { settleOwnership, type SharedListener } from './host-ownership.js';
import type { Verdict } from './listener-conflicts.js';
import { Memo, StableValues } from './memo.js';
import { findMixedRoutes } from './mixed-routes.js';
import { settleRoute, type HostRefusal, type RouteNode, type SettledRoute } from './route.js';
import type { ListenerSettlement } from './settle-listeners.js';

export interface RouteSettlement {
  readonly routes: readonly SettledRoute[];
  /** Those of the listeners' comparison and those that ownership of hosts adds. */
  readonly verdicts: ReadonlyMap<string, Verdict>;
  /** Number of accepted routes by listener key. */
  readonly attachedRoutes: ReadonlyMap<string, number>;
}

const NONE: readonly HostRefusal[] = [];

/** Compares routes with each other: who owns a hostname, which kind answers for it. */
export class RouteSettler {
  readonly #outcome = new Memo<Outcome>();
  readonly #counts = new Memo<ReadonlyMap<string, number>>();
  readonly #refusals = new StableValues<readonly HostRefusal[]>();
  readonly #settled = new Memo<SettledRoute>();

  settle(routes: readonly RouteNode[], settlement: ListenerSettlement): RouteSettlement {
    // Where routes attach and how old they are decides; what their rules say plays no part.
    const inputs = [
      settlement,
      ...routes.map(({ parents }) => parents),
      ...routes.map(({ createdAt }) => createdAt),
    ];
    const outcome = this.#outcome.get('all', inputs, () => this.#compare(routes, settlement));
    const settled = routes.map((route) => {
      const refusals = outcome.refusals.get(route.key) ?? NONE;
      return this.#settled.get(route.key, [route, refusals], () => settleRoute(route, refusals));
    });
    const attached = settled.map(({ parents }) => parents);
    return {
      routes: settled,
      verdicts: outcome.verdicts,
      attachedRoutes: this.#counts.get('all', attached, () => countAttached(settled)),
    };
  }

  #compare(routes: readonly RouteNode[], settlement: ListenerSettlement): Outcome {
    const ownership = settleOwnership(sharedListeners(settlement), routes);
    const mixed = findMixedRoutes(routes, {
      refused: (route, listener, hostname) =>
        (ownership.routes.get(route.key) ?? NONE).some(
          (one) => one.listener === listener && one.hostname === hostname,
        ),
      mayMix: mixingListeners(settlement),
    });
    const refusals = new Map<string, readonly HostRefusal[]>();
    for (const key of new Set([...ownership.routes.keys(), ...mixed.keys()])) {
      const both = [...(ownership.routes.get(key) ?? NONE), ...(mixed.get(key) ?? NONE)];
      refusals.set(key, this.#refusals.keep(key, both));
    }
    this.#refusals.endPass();
    return { refusals, verdicts: new Map([...settlement.verdicts, ...ownership.listeners]) };
  }

  endPass(): void {
    this.#outcome.endPass();
    this.#counts.endPass();
    this.#settled.endPass();
  }
}

/** What the comparison of routes gives. */
interface Outcome {
  /** By route key. */
  readonly refusals: ReadonlyMap<string, readonly HostRefusal[]>;
  readonly verdicts: ReadonlyMap<string, Verdict>;
}

/** The listeners that are served on the shared address, in a stable order. */
function sharedListeners({
  gateways,
  listenerSets,
  verdicts,
  joined,
}: ListenerSettlement): ReadonlyMap<string, SharedListener> {
  const members = new Map<string, SharedListener>();
  const parents = new Map<string, GatewayNode>();
  const add = (node: { readonly listeners: GatewayNode['listeners'] }, parent: GatewayNode): void => {
    if (parent.refused || parent.parameters.addressing !== 'shared') return;
    for (const listener of node.listeners) {
      // A TCP or UDP port is one listener's, and of its routes the oldest serves: no hostname to own.
      const hasHostnames = listener.protocol === 'http' || listener.protocol === 'tls';
      if (!hasHostnames || !listener.servable || verdicts.has(listener.key)) continue;
      const { crossNamespacePaths } = parent.parameters;
      members.set(listener.key, { listener, crossNamespacePaths });
    }
  };
  for (const gateway of gateways) {
    parents.set(gateway.id, gateway);
    add(gateway, gateway);
  }
  for (const set of listenerSets) {
    const parent = parents.get(set.gateway);
    if (parent && joined.has(set.id)) add(set, parent);
  }
  return members;
}

function mixingListeners({ gateways, listenerSets }: ListenerSettlement): (listener: string) => boolean {
  const mixing = new Set<string>();
  const classes = new Map(gateways.map((node) => [node.id, node.parameters]));
  for (const { id, listeners } of gateways) {
    if (classes.get(id)?.allowMixedRoutes === true) for (const { key } of listeners) mixing.add(key);
  }
  for (const { gateway, listeners } of listenerSets) {
    if (classes.get(gateway)?.allowMixedRoutes === true) for (const { key } of listeners) mixing.add(key);
  }
  return (listener) => mixing.has(listener);
}

/** A route counts once on each listener, however many of its parentRefs lead there. */
function countAttached(routes: readonly SettledRoute[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { parents } of routes) {
    const attached = parents.flatMap((parent) => (parent.accepted ? parent.attached : []));
    for (const key of new Set(attached.map(({ listener }) => listener.key)))
      counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return counts;
}
