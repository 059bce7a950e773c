import type { Kind } from '../apis/kinds.js';
import { compareText } from '../util/collections.js';
import { Interner } from '../util/interner.js';
import { KeptOrder } from '../util/kept-order.js';
import { planEvents, routeEvents, withMore } from './plan-events.js';
import { PolicyStatusPlanner } from './plan-policy-statuses.js';
import type { ClassNode } from './gateway-class.js';
import type { Graph, SettledGateway, SettledListenerSet } from './graph.js';
import { gatewayConditionsOf, listenerStatusOf, overlapsOf } from './gateway-status.js';
import { Memo } from './memo.js';
import type { SettledRoute } from './route.js';
import type { GraphSettings } from './settings.js';
import type { PlannedEvent, PlannedStatus } from './status-plan.js';
import { supportedFeatures } from './supported-features.js';
import { trafficPolicyAncestors, type TrafficPolicyNode } from './traffic-policy-status.js';

export interface PlannedStatuses {
  readonly statuses: readonly PlannedStatus[];
  readonly events: readonly PlannedEvent[];
}

/** What is said about a route. */
interface PlannedRoute {
  readonly status: PlannedStatus;
  readonly events: readonly PlannedEvent[];
}

/** Says what the status of every object should be; the same object while nothing of it changed. */
export class StatusPlanner {
  readonly #settings: GraphSettings;
  readonly #classes = new Memo<PlannedStatus>();
  readonly #gateways = new Memo<PlannedStatus>();
  readonly #listenerSets = new Memo<PlannedStatus>();
  readonly #routes = new Memo<PlannedRoute>();
  readonly #traffic = new Memo<PlannedStatus>();
  readonly #events = new Memo<readonly PlannedEvent[]>();
  readonly #order = new KeptOrder(byObject);
  readonly #policies: PolicyStatusPlanner;
  readonly #interner = new Interner();

  constructor(settings: GraphSettings) {
    this.#settings = settings;
    this.#policies = new PolicyStatusPlanner(settings.controllerName);
  }

  plan(graph: Graph, { installedKinds }: { readonly installedKinds: ReadonlySet<Kind> }): PlannedStatuses {
    const features = supportedFeatures(this.#settings.capabilities, installedKinds);
    const hasListenerSets = installedKinds.has('ListenerSet');
    const siblings = new Map<string, SettledListenerSet[]>();
    for (const set of graph.listenerSets) {
      const sets = siblings.get(set.node.gateway);
      if (sets) sets.push(set);
      else siblings.set(set.node.gateway, [set]);
    }
    const policies = this.#policies.plan(graph.policies);
    const routes = graph.routes.map((route) => this.#planRoute(route));
    const statuses = [
      ...graph.classes.map((node) => this.#planClass(node, features)),
      ...graph.gateways.map((gateway) =>
        this.#planGateway(gateway, siblings.get(gateway.node.id) ?? [], graph, hasListenerSets),
      ),
      ...this.#planListenerSets(graph, siblings),
      ...routes.map(({ status }) => status),
      ...policies.statuses,
      ...graph.policies.traffic.map((node) => this.#planTraffic(node)),
    ];
    const events = withMore(this.#planEvents(graph, routes), policies.events);
    this.#classes.endPass();
    this.#gateways.endPass();
    this.#listenerSets.endPass();
    this.#routes.endPass();
    this.#traffic.endPass();
    this.#events.endPass();
    return { statuses: this.#order.sort(statuses), events };
  }

  #planClass(node: ClassNode, features: readonly string[]): PlannedStatus {
    return this.#classes.get(node.name, [node, features.join()], () => ({
      object: node.ref,
      generation: node.generation,
      status: { shape: 'gatewayclass', conditions: [node.accepted], supportedFeatures: features },
    }));
  }

  #planGateway(
    gateway: SettledGateway,
    sets: readonly SettledListenerSet[],
    graph: Graph,
    hasListenerSets: boolean,
  ): PlannedStatus {
    const { node, address, listeners } = gateway;
    const counts = listeners.map((one) => graph.attachedRoutes.get(one.node.key) ?? 0);
    const attachedSets = hasListenerSets ? (graph.attachedListenerSets.get(node.id) ?? 0) : undefined;
    const inputs = [gateway, attachedSets, ...counts, ...sets];
    return this.#gateways.get(node.id, inputs, () => {
      const overlaps = overlapsOf([...listeners, ...sets.flatMap((set) => set.listeners)]);
      return {
        object: node.ref,
        generation: node.generation,
        status: {
          shape: 'gateway',
          conditions: gatewayConditionsOf(gateway),
          // Also while no listener is valid: what is assigned is adopted from here after a restart.
          addresses: node.refused ? [] : address.addresses,
          listeners: listeners.map((listener, index) =>
            listenerStatusOf(listener, gateway, counts[index] ?? 0, overlaps),
          ),
          ...(attachedSets !== undefined && { attachedListenerSets: attachedSets }),
        },
      };
    });
  }

  #planListenerSets(
    graph: Graph,
    siblings: ReadonlyMap<string, readonly SettledListenerSet[]>,
  ): readonly PlannedStatus[] {
    const gateways = new Map(graph.gateways.map((gateway) => [gateway.node.id, gateway]));
    return graph.listenerSets.flatMap((set) => {
      const gateway = gateways.get(set.node.gateway);
      return gateway ? [this.#planListenerSet(set, gateway, siblings.get(gateway.node.id) ?? [], graph)] : [];
    });
  }

  #planListenerSet(
    set: SettledListenerSet,
    gateway: SettledGateway,
    sets: readonly SettledListenerSet[],
    graph: Graph,
  ): PlannedStatus {
    const { node, accepted, programmed, listeners } = set;
    const counts = listeners.map((one) => graph.attachedRoutes.get(one.node.key) ?? 0);
    const inputs = [set, gateway, ...counts, ...sets];
    return this.#listenerSets.get(node.id, inputs, () => {
      const overlaps = overlapsOf([...gateway.listeners, ...sets.flatMap((one) => one.listeners)]);
      return {
        object: node.ref,
        generation: node.generation,
        status: {
          shape: 'listenerset',
          conditions: [accepted, programmed],
          listeners: listeners.map((listener, index) =>
            listenerStatusOf(listener, gateway, counts[index] ?? 0, overlaps),
          ),
        },
      };
    });
  }

  #planRoute(settled: SettledRoute): PlannedRoute {
    const { route, parents } = settled;
    return this.#routes.get(route.key, [settled], () => ({
      status: {
        object: route.ref,
        generation: route.generation,
        status: this.#interner.of({
          shape: 'route' as const,
          parents: parents.map(({ ref, conditions }) => ({
            parentRef: ref,
            controllerName: this.#settings.controllerName,
            conditions,
          })),
        }),
      },
      events: routeEvents(settled),
    }));
  }

  #planTraffic(node: TrafficPolicyNode): PlannedStatus {
    const { ref, generation } = node;
    return this.#traffic.get(`${ref.namespace}/${ref.name}`, [node], () => ({
      object: ref,
      generation,
      status: { shape: 'policy', ancestors: trafficPolicyAncestors(node, this.#settings.controllerName) },
    }));
  }

  #planEvents(graph: Graph, routes: readonly PlannedRoute[]): readonly PlannedEvent[] {
    const ofRoutes = routes.flatMap(({ events }) => events);
    const inputs = [
      ...graph.classes,
      ...graph.gateways,
      ...graph.listenerSets,
      ...ofRoutes,
      ...graph.policies.traffic,
    ];
    return this.#events.get('all', inputs, () => planEvents(graph, ofRoutes));
  }
}

function byObject(a: PlannedStatus, b: PlannedStatus): number {
  return (
    compareText(a.object.kind, b.object.kind) ||
    compareText(a.object.namespace, b.object.namespace) ||
    compareText(a.object.name, b.object.name)
  );
}
