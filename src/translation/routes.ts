import type { Libraries } from '../graph/libraries.js';
import { compareText, sortedBy } from '../util/collections.js';
import { Memo, StableValues } from '../graph/memo.js';
import { servedRouteKey } from '../graph/policies.js';
import type { RuleCacheSettings } from '../graph/route-cache-settings.js';
import type { RouteNode } from '../graph/route.js';
import type { ObjectRef } from '../graph/status-plan.js';
import type { CachePolicy } from '../ir/cache-policy.js';
import type { HttpRoute } from '../ir/http.js';
import { governRules } from './cache-policies.js';
import type { GatewayTrait } from './gateway-traits.js';
import { toRules, type HttpCarryingRoute } from './http-rules.js';
import { distinctRequests, UpstreamNames, type UpstreamRequest } from './upstream-request.js';

/** A route as one Gateway serves it, and what it needs. */
export interface WrittenRoute {
  readonly ref: ObjectRef;
  readonly route: HttpRoute;
  readonly requests: readonly UpstreamRequest[];
  readonly policies: readonly CachePolicy[];
}

/** By key of the served route. */
type CacheSettingsByRoute = ReadonlyMap<string, readonly RuleCacheSettings[]>;

/** Everything that is in a configuration because of routes; each list sorted by key. */
interface WrittenRoutes {
  readonly written: readonly WrittenRoute[];
  readonly requests: readonly UpstreamRequest[];
  readonly policies: readonly CachePolicy[];
}

/** What shapes a route besides itself. */
interface Shaping {
  readonly trait: GatewayTrait;
  readonly settings: readonly RuleCacheSettings[];
}

const NO_SETTINGS: readonly RuleCacheSettings[] = [];

const NO_TRAIT: GatewayTrait = { routingMode: 'endpoint' };

/** Writes routes down, once for each Gateway that serves them. */
export class RouteWriter {
  readonly #libraries: Libraries;
  /** By Gateway, then route. */
  readonly #gateways = new Map<string, Memo<WrittenRoute>>();
  readonly #requests = new Memo<readonly UpstreamRequest[]>();
  readonly #used = new Set<WrittenRoute>();
  readonly #policies = new StableValues<CachePolicy>();
  #settings: CacheSettingsByRoute = new Map();

  constructor(libraries: Libraries) {
    this.#libraries = libraries;
  }

  /** What governs routes in this pass, by key. */
  begin(settings: CacheSettingsByRoute): void {
    this.#settings = settings;
  }

  /** Notes that the Gateway serves the route. */
  use(route: RouteNode, gateway: string, trait: GatewayTrait = NO_TRAIT): void {
    if (route.kind !== 'HTTPRoute' && route.kind !== 'GRPCRoute') return;
    const routes = this.#gateways.get(gateway) ?? new Memo<WrittenRoute>();
    this.#gateways.set(gateway, routes);
    const { key, rules, createdAt } = route;
    const settings = this.#settingsOf(route, gateway);
    this.#used.add(
      routes.get(key, [rules, createdAt, trait, settings], () =>
        this.#write(route, gateway, { trait, settings }),
      ),
    );
  }

  /** Mostly nothing governs anything, and joining a key for each route of each pass is dear. */
  #settingsOf(route: RouteNode, gateway: string): readonly RuleCacheSettings[] {
    if (this.#settings.size === 0) return NO_SETTINGS;
    return this.#settings.get(servedRouteKey(route, gateway)) ?? NO_SETTINGS;
  }

  /** Everything that was used in this pass, sorted by key; requests of one upstream once. */
  written(): WrittenRoutes {
    const written = [...this.#used].sort((a, b) => compareText(a.route.key, b.route.key));
    const requests = written.map((one) => one.requests);
    return {
      written,
      requests: this.#requests.get('all', requests, () => distinctRequests(requests.flat())),
      policies: this.#distinctPolicies(written),
    };
  }

  /** Sorted by key. */
  #distinctPolicies(written: readonly WrittenRoute[]): readonly CachePolicy[] {
    const byKey = new Map(written.flatMap((one) => one.policies).map((policy) => [policy.key, policy]));
    return sortedBy(byKey.values(), ({ key }) => key).map((policy) =>
      this.#policies.keep(policy.key, policy),
    );
  }

  endPass(): void {
    for (const routes of this.#gateways.values()) routes.endPass();
    this.#requests.endPass();
    this.#policies.endPass();
    this.#used.clear();
  }

  #write(route: HttpCarryingRoute, gateway: string, { trait, settings }: Shaping): WrittenRoute {
    const upstreams = new UpstreamNames(trait);
    const { kind, namespace, name, createdAt } = route;
    const traits = { ...trait, regexProblem: (pattern: string) => this.#libraries.regexProblem(pattern) };
    const { rules, policies } = governRules(toRules(route, traits, upstreams), settings);
    const key = servedRouteKey(route, gateway);
    return {
      ref: route.ref,
      route: { key, kind, namespace, name, createdAt, rules },
      requests: upstreams.requests,
      policies,
    };
  }
}
