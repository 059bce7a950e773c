import type { ClusterSnapshot } from '../apis/cluster-snapshot.js';
import { examineBackendTlsPolicy, type BackendTlsNode } from './backend-tls-policy.js';
import { BackendUseFinder, type BackendUse } from './backend-use.js';
import { examineCachePolicy, type CachePolicyNode } from './cache-policy.js';
import type { GraphContext } from './context.js';
import type { GatewayNode } from './gateway.js';
import { RecordedMemo, type Tables } from './lookup.js';
import { Memo, StableValues } from './memo.js';
import type { CachePolicyReach } from './policy-statuses.js';
import type { RouteNode, SettledRoute } from './route.js';
import {
  routeCacheSettings,
  type GovernedRoute,
  type RouteCacheSettings,
  type RuleCacheSettings,
} from './route-cache-settings.js';
import { Interner } from '../util/interner.js';
import type { Rows } from './rows.js';
import { settleBackendTls, type BackendTlsSettlement } from './settle-backend-tls.js';
import { examineTrafficPolicy, type TrafficPolicyNode } from './traffic-policy-status.js';
import { settleCachePolicies, type CachePolicySettlement } from './settle-cache-policies.js';

/** The policies of the cluster, compared with each other and with what they govern. */
export interface Policies {
  /** Sorted by `namespace/name`. */
  readonly backendTls: readonly BackendTlsNode[];
  readonly backendTlsSettlement: BackendTlsSettlement;
  readonly backendUse: BackendUse;
  /** Sorted by `namespace/name`. */
  readonly traffic: readonly TrafficPolicyNode[];
  /** Sorted by `namespace/name`. */
  readonly cache: readonly CachePolicyNode[];
  readonly cacheSettlement: CachePolicySettlement;
  readonly cacheReach: CachePolicyReach;
  readonly cacheSettings: CacheSettingsByGateway;
}

/** By Gateway (`namespace/name`), then key of the route; routes that nothing governs are not there. */
export type CacheSettingsByGateway = ReadonlyMap<string, ReadonlyMap<string, readonly RuleCacheSettings[]>>;

/** An HTTPRoute as one Gateway serves it. */
export function servedRouteKey(route: RouteNode, gateway: string): string {
  return `${route.key}@Gateway/${gateway}`;
}

export interface PolicyInput {
  readonly cluster: ClusterSnapshot;
  readonly tables: Tables<Rows>;
  readonly gateways: ReadonlyMap<string, GatewayNode>;
  readonly routes: readonly SettledRoute[];
}

/** A route at one Gateway, with what governs it there. */
interface GovernedAt {
  readonly gateway: string;
  readonly settings: RouteCacheSettings;
}

const UNGOVERNED: readonly GovernedAt[] = [];

const UNUSED: BackendUse = { gatewaysOf: () => new Set() };

/** Examines and settles policies; what did not change is the same object as in the pass before. */
export class PolicySettler {
  readonly #context: GraphContext;
  readonly #tlsNodes = new RecordedMemo<Rows, BackendTlsNode>();
  readonly #tlsSettlement = new Memo<BackendTlsSettlement>();
  readonly #cacheNodes = new Memo<CachePolicyNode>();
  readonly #cacheSettlement = new Memo<CachePolicySettlement>();
  readonly #governed = new Memo<readonly GovernedAt[]>();
  readonly #traffic = new StableValues<TrafficPolicyNode>();
  readonly #interner = new Interner();
  readonly #use = new BackendUseFinder();

  constructor(context: GraphContext) {
    this.#context = context;
  }

  settle(input: PolicyInput): Policies {
    const { cluster, tables, routes } = input;
    const backendTls = sorted(cluster.BackendTLSPolicy).map(([key, policy]) =>
      this.#tlsNodes.get(key, [policy], tables, (lookup) =>
        examineBackendTlsPolicy(policy, { ...this.#context, lookup }),
      ),
    );
    const cache = sorted(cluster.TricksterCachePolicy).map(([key, policy]) =>
      this.#cacheNodes.get(key, [policy], () => examineCachePolicy(policy, this.#context.settings.names)),
    );
    const cacheSettlement = this.#settleCache(cache, cluster);
    const isAsked = backendTls.length > 0 || cluster.XBackendTrafficPolicy.size > 0;
    const backendUse = isAsked ? this.#use.find(routes) : UNUSED;
    return {
      backendTls,
      backendTlsSettlement: this.#tlsSettlement.get('all', backendTls, () => settleBackendTls(backendTls)),
      backendUse,
      traffic: this.#examineTraffic(input, backendUse),
      cache,
      cacheSettlement,
      ...this.#mergeSettings(input, cacheSettlement),
    };
  }

  endPass(): void {
    this.#tlsNodes.endPass();
    this.#tlsSettlement.endPass();
    this.#cacheNodes.endPass();
    this.#cacheSettlement.endPass();
    this.#governed.endPass();
    this.#traffic.endPass();
  }

  #examineTraffic({ cluster, tables }: PolicyInput, use: BackendUse): readonly TrafficPolicyNode[] {
    return sorted(cluster.XBackendTrafficPolicy).map(([key, policy]) =>
      this.#traffic.keep(
        key,
        examineTrafficPolicy(policy, use, {
          services: cluster.Service,
          policiesOf: (service) => tables.trafficPolicies.get(service) ?? [],
        }),
      ),
    );
  }

  #settleCache(nodes: readonly CachePolicyNode[], cluster: ClusterSnapshot): CachePolicySettlement {
    const targets = nodes.flatMap((node) =>
      node.targets.map(({ kind, id }) =>
        kind === 'Gateway'
          ? cluster.Gateway.has(id)
          : kind === 'Service'
            ? cluster.Service.get(id)
            : cluster.HTTPRoute.get(id),
      ),
    );
    return this.#cacheSettlement.get('all', [...nodes, ...targets], () =>
      settleCachePolicies(nodes, cluster),
    );
  }

  #mergeSettings(
    { gateways, routes }: PolicyInput,
    settlement: CachePolicySettlement,
  ): Pick<Policies, 'cacheReach' | 'cacheSettings'> {
    const cacheSettings = new Map<string, Map<string, readonly RuleCacheSettings[]>>();
    const [reached, effective] = [new Set<string>(), new Set<string>()];
    const named = [...gateways.values()].some(({ parameters }) => namesCache(parameters));
    const governable = settlement.winners.size > 0 || named ? routes : [];
    for (const { route, parents } of governable) {
      if (route.kind !== 'HTTPRoute') continue;
      const inputs = [route.rules, parents, settlement, gateways];
      const governed = this.#governed.get(route.key, inputs, () =>
        this.#interner.of(governAtGateways({ route, parents }, gateways, settlement)),
      );
      for (const { gateway, settings } of governed) {
        settings.reached.forEach((key) => reached.add(key));
        settings.effective.forEach((key) => effective.add(key));
        const known = cacheSettings.get(gateway);
        if (known) known.set(route.key, settings.rules);
        else cacheSettings.set(gateway, new Map([[route.key, settings.rules]]));
      }
    }
    return { cacheReach: { reached, effective }, cacheSettings };
  }
}

/** What governs a route at each Gateway that serves it; nothing for those where nothing does. */
function governAtGateways(
  { route, parents }: GovernableRoute,
  gateways: ReadonlyMap<string, GatewayNode>,
  settlement: CachePolicySettlement,
): readonly GovernedAt[] {
  const serving = new Set(
    parents.flatMap(({ attached }) => attached.map(({ listener }) => listener.gateway)),
  );
  const governed = [...serving].flatMap((gateway): GovernedAt[] => {
    const parameters = gateways.get(gateway)?.parameters ?? {};
    const settings = routeCacheSettings({ route, gateway, parameters }, settlement);
    return settings.rules.length > 0 || settings.reached.length > 0 ? [{ gateway, settings }] : [];
  });
  return governed.length > 0 ? governed : UNGOVERNED;
}

interface GovernableRoute extends Pick<SettledRoute, 'parents'> {
  readonly route: GovernedRoute['route'];
}

function namesCache({ cacheName, negativeCacheName }: Partial<GatewayNode['parameters']>): boolean {
  return cacheName !== undefined || negativeCacheName !== undefined;
}

function sorted<V>(objects: ReadonlyMap<string, V>): readonly (readonly [string, V])[] {
  return [...objects].sort(([a], [b]) => (a < b ? -1 : 1));
}
