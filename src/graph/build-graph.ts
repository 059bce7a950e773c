/**
 * Graph: the cluster's objects, linked, validated and with every conflict settled.
 *
 * In: a snapshot of all kinds and the published addresses. Out: a `Graph`.
 * It reads nothing else (no clock, no network), throws for no input, and does not know the proxy: a node says what
 * is wrong with an object, never how it is served. What did not change is the same object as in the pass before.
 */
import type { ClusterSnapshot } from '../apis/cluster-snapshot.js';
import type { AddressOutcome, PublishedAddresses } from './addresses.js';
import { sharedAddress } from './addresses.js';
import { assignPoolAddresses, type HeldAddresses } from './address-pool.js';
import { examineSecret, type CertificateNode } from './certificate.js';
import type { GraphContext } from './context.js';
import type { Secret } from '../apis/core/secret.js';
import { examineGatewayClass, type ClassNode } from './gateway-class.js';
import { examineGateway, type GatewayNode } from './gateway.js';
import type { Graph, SettledGateway, SettledListener, SettledListenerSet } from './graph.js';
import type { Verdict } from './listener-conflicts.js';
import type { ListenerNode } from './listener.js';
import type { Libraries } from './libraries.js';
import { examineListenerSet, parentOf, type ListenerSetNode } from './listener-set.js';
import { RecordedMemo, type Tables } from './lookup.js';
import { keepEqual, Memo, sameItems, StableValues } from './memo.js';
import { ObjectIndex } from './object-index.js';
import { PolicySettler } from './policies.js';
import { RouteExaminer } from './route-examiner.js';
import type { Rows } from './rows.js';
import {
  acceptGateway,
  acceptListenerSet,
  settleListeners,
  type ListenerSettlement,
} from './settle-listeners.js';
import { RouteSettler, type RouteSettlement } from './settle-routes.js';
import type { GraphSettings } from './settings.js';
import type { BackendTrafficPolicy } from '../apis/gateway/backend-traffic-policy.js';
import type { ReferenceGrant } from '../apis/gateway/reference-grant.js';

interface GraphInput {
  readonly cluster: ClusterSnapshot;
  readonly publishedAddresses: PublishedAddresses;
}

/** Builds graphs one after the other and remembers what it can use again. */
export class GraphBuilder {
  readonly #context: GraphContext;
  readonly #certificates = new WeakMap<Secret, CertificateNode>();
  readonly #classes = new RecordedMemo<Rows, ClassNode>();
  readonly #gateways = new RecordedMemo<Rows, GatewayNode | undefined>();
  readonly #listenerSets = new RecordedMemo<Rows, ListenerSetNode>();
  readonly #addresses = new Memo<ReadonlyMap<string, AddressOutcome>>();
  #held: HeldAddresses = new Map();
  readonly #outcomes = new StableValues<AddressOutcome>();
  readonly #settlements = new Memo<ListenerSettlement>();
  readonly #grants = new ObjectIndex<ReferenceGrant>(({ metadata }) => [metadata.namespace]);
  readonly #trafficPolicies = new ObjectIndex<BackendTrafficPolicy>(servicesOf);
  readonly #routes: RouteExaminer;
  #last: { readonly inputs: readonly unknown[]; readonly graph: Graph } | undefined;
  #published: PublishedAddresses;
  #tables: Tables<Rows> | undefined;
  readonly #settler = new RouteSettler();
  readonly #policies: PolicySettler;
  readonly #gatewayResults = new Memo<SettledGateway>();
  readonly #setResults = new Memo<SettledListenerSet>();

  constructor(settings: GraphSettings, libraries: Libraries) {
    this.#context = {
      settings,
      libraries,
      certificateOf: (key, secret) => this.#certificateOf(key, secret),
    };
    this.#routes = new RouteExaminer(this.#context);
    this.#policies = new PolicySettler(this.#context);
  }

  /** The graph of the pass before (the same object) when nothing but endpoints changed. */
  build(input: GraphInput): Graph {
    this.#published = keepEqual(this.#published, input.publishedAddresses);
    const stable = { ...input, publishedAddresses: this.#published };
    const inputs = inputsOf(stable);
    const last = this.#last;
    const graph = last && sameItems(last.inputs, inputs) ? last.graph : this.#build(stable);
    this.#last = { inputs, graph };
    return graph;
  }

  #build(input: GraphInput): Graph {
    const { cluster } = input;
    const tables = this.#fillTables(cluster);
    const gateways = sortedValues(tables.gateways);
    const listenerSets = sortedValues(tables.listenerSets);
    const addresses = this.#assignAddresses(gateways, input, tables);
    const settlement = this.#settlements.get('all', [...gateways, ...listenerSets], () =>
      settleListeners(gateways, listenerSets),
    );
    const routes = this.#settler.settle(this.#routes.examine(cluster, tables), settlement);
    const settledGateways = gateways.map((node) => this.#settleGateway(node, routes, addresses));
    const settledSets = this.#settleListenerSets(settledGateways, settlement, routes);
    const policies = this.#policies.settle({
      cluster,
      tables,
      gateways: tables.gateways,
      routes: routes.routes,
    });
    this.#endPass();
    return {
      classes: sortedValues(tables.classes),
      gateways: settledGateways,
      listenerSets: settledSets,
      routes: routes.routes,
      attachedRoutes: routes.attachedRoutes,
      attachedListenerSets: countAccepted(settledSets),
      policies,
    };
  }

  #settleGateway(
    node: GatewayNode,
    { verdicts }: RouteSettlement,
    addresses: ReadonlyMap<string, AddressOutcome>,
  ): SettledGateway {
    const address = addresses.get(node.id) ?? NO_ADDRESS;
    const own = node.listeners.map(({ key }) => verdicts.get(key));
    return this.#gatewayResults.get(node.id, [node, address, ...own], () => {
      const accepted = acceptGateway(node, verdicts);
      const isServed = accepted.status === 'True' && address.bind.length > 0;
      return { node, address, accepted, listeners: settleEach(node.listeners, verdicts, isServed) };
    });
  }

  #settleListenerSets(
    gateways: readonly SettledGateway[],
    { listenerSets, joined }: ListenerSettlement,
    { verdicts }: RouteSettlement,
  ): readonly SettledListenerSet[] {
    const parents = new Map(gateways.map((gateway) => [gateway.node.id, gateway]));
    return listenerSets.map((node) => {
      const parent = parents.get(node.gateway);
      const own = node.listeners.map(({ key }) => verdicts.get(key));
      const isJoined = joined.has(node.id);
      return this.#setResults.get(node.id, [node, parent?.address, isJoined, ...own], () => {
        const programmed = parent !== undefined && parent.address.problem === undefined;
        const outcome = acceptListenerSet(node, { joined: isJoined, programmed }, verdicts);
        const isServed = outcome.accepted.status === 'True' && (parent?.address.bind.length ?? 0) > 0;
        return { node, ...outcome, listeners: settleEach(node.listeners, verdicts, isServed) };
      });
    });
  }

  /** Checking a pair is dear, so it is done once for each Secret object. */
  #certificateOf(key: string, secret: Secret | undefined): CertificateNode {
    const known = secret && this.#certificates.get(secret);
    if (known) return known;
    const node = examineSecret(key, secret, this.#context.libraries);
    if (secret) this.#certificates.set(secret, node);
    return node;
  }

  #fillTables(cluster: ClusterSnapshot): Tables<Rows> {
    const classes = new Map<string, ClassNode>();
    const gateways = new Map<string, GatewayNode>();
    const listenerSets = new Map<string, ListenerSetNode>();
    const tables: Tables<Rows> = {
      namespaces: cluster.Namespace,
      services: cluster.Service,
      secrets: cluster.Secret,
      configMaps: cluster.ConfigMap,
      grants: this.#grants.of(cluster.ReferenceGrant),
      trafficPolicies: this.#trafficPolicies.of(cluster.XBackendTrafficPolicy),
      classes,
      gateways,
      listenerSets,
    };
    this.#examineClasses(cluster, tables, classes);
    for (const [key, gateway] of cluster.Gateway) {
      const node = this.#gateways.get(key, [gateway], tables, (lookup) =>
        examineGateway(gateway, { ...this.#context, lookup }),
      );
      if (node) gateways.set(key, node);
    }
    this.#examineListenerSets(cluster, tables, listenerSets);
    return (this.#tables = keepTables(this.#tables, tables));
  }

  #examineClasses(cluster: ClusterSnapshot, tables: Tables<Rows>, classes: Map<string, ClassNode>): void {
    for (const [key, gatewayClass] of cluster.GatewayClass) {
      if (gatewayClass.spec.controllerName !== this.#context.settings.controllerName) continue;
      const node = this.#classes.get(key, [gatewayClass], tables, (lookup) =>
        examineGatewayClass(gatewayClass, { ...this.#context, lookup }),
      );
      classes.set(key, node);
    }
  }

  #examineListenerSets(
    cluster: ClusterSnapshot,
    tables: Tables<Rows>,
    listenerSets: Map<string, ListenerSetNode>,
  ): void {
    for (const [key, listenerSet] of cluster.ListenerSet) {
      const parent = parentOf(listenerSet);
      const gateway = parent === undefined ? undefined : cluster.Gateway.get(parent);
      const node = parent === undefined ? undefined : tables.gateways.get(parent);
      if (!gateway || !node) continue;
      const examined = this.#listenerSets.get(key, [listenerSet, gateway.spec, node], tables, (lookup) =>
        examineListenerSet(listenerSet, { node, gateway }, { ...this.#context, lookup }),
      );
      listenerSets.set(key, examined);
    }
  }

  #assignAddresses(
    gateways: readonly GatewayNode[],
    { cluster, publishedAddresses }: GraphInput,
    tables: Tables<Rows>,
  ): ReadonlyMap<string, AddressOutcome> {
    const { libraries } = this.#context;
    const pools = [...cluster.AddressPool.values()];
    const pooled = gateways.filter(({ parameters, refused }) => parameters.addressing === 'pool' && !refused);
    const held = new Map(pooled.map(({ id }) => [id, this.#heldBy(id, cluster)]));
    const inputs = [publishedAddresses, cluster.Namespace, ...gateways, '|', ...pools, '|', ...held.values()];
    const outcomes = this.#addresses.get('all', inputs, () => {
      const lookup = { find: <K extends keyof Rows>(table: K, key: string) => tables[table].get(key) };
      const assigned = assignPoolAddresses(pooled, pools, held, { lookup, libraries });
      const all = gateways.map((node) => {
        const outcome = assigned.get(node.id) ?? sharedAddress(node, publishedAddresses, libraries);
        return [node.id, this.#outcomes.keep(node.id, outcome)] as const;
      });
      this.#outcomes.endPass();
      return new Map(all);
    });
    this.#held = new Map(pooled.map(({ id }) => [id, outcomes.get(id)?.addresses ?? []]));
    return outcomes;
  }

  /** Our own memory, or after a start what the status of the Gateway says. */
  #heldBy(id: string, cluster: ClusterSnapshot): readonly { readonly value: string }[] {
    return this.#held.get(id) ?? cluster.Gateway.get(id)?.status?.addresses ?? NOTHING_HELD;
  }

  #endPass(): void {
    this.#classes.endPass();
    this.#gateways.endPass();
    this.#listenerSets.endPass();
    this.#addresses.endPass();
    this.#settlements.endPass();
    this.#settler.endPass();
    this.#policies.endPass();
    this.#gatewayResults.endPass();
    this.#setResults.endPass();
  }
}

/** The tables of the pass before when nothing in them is another object: whoever depends on them need not look. */
function keepTables(before: Tables<Rows> | undefined, after: Tables<Rows>): Tables<Rows> {
  if (!before) return after;
  const kept: Tables<Rows> = {
    ...after,
    classes: keepMap(before.classes, after.classes),
    gateways: keepMap(before.gateways, after.gateways),
    listenerSets: keepMap(before.listenerSets, after.listenerSets),
  };
  return sameItems(Object.values(before), Object.values(kept)) ? before : kept;
}

function keepMap<V>(before: ReadonlyMap<string, V>, after: ReadonlyMap<string, V>): ReadonlyMap<string, V> {
  const isSame = before.size === after.size && [...after].every(([key, value]) => before.get(key) === value);
  return isSame ? before : after;
}

/** Endpoints shape upstreams only. */
function inputsOf({ cluster, publishedAddresses }: GraphInput): readonly unknown[] {
  const shaping = Object.entries(cluster).filter(([kind]) => kind !== 'EndpointSlice');
  return [publishedAddresses, ...shaping.map(([, objects]) => objects)];
}

const NOTHING_HELD: readonly { readonly value: string }[] = [];

const NO_ADDRESS: AddressOutcome = { bind: [], addresses: [] };

function settleEach(
  listeners: readonly ListenerNode[],
  verdicts: ReadonlyMap<string, Verdict>,
  isServed: boolean,
): readonly SettledListener[] {
  return listeners.map((node) => {
    const verdict = verdicts.get(node.key);
    return verdict
      ? { node, verdict, served: false }
      : { node, served: isServed && node.servable && node.notAccepted === undefined };
  });
}

function countAccepted(listenerSets: readonly SettledListenerSet[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { node, accepted } of listenerSets) {
    if (accepted.status === 'True') counts.set(node.gateway, (counts.get(node.gateway) ?? 0) + 1);
  }
  return counts;
}

function servicesOf({ metadata, spec }: BackendTrafficPolicy): readonly string[] {
  return spec.targetRefs.flatMap(({ group, kind, name }) =>
    group === '' && kind === 'Service' ? [`${metadata.namespace}/${name}`] : [],
  );
}

function sortedValues<V>(table: ReadonlyMap<string, V>): readonly V[] {
  return [...table.keys()].sort().flatMap((key) => table.get(key) ?? []);
}
