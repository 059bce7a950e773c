import type { Libraries } from '../graph/libraries.js';
import { compareText, sortedBy } from '../util/collections.js';
import { Interner } from '../util/interner.js';
import { KeptOrder } from '../util/kept-order.js';
import { Memo, StableValues } from '../graph/memo.js';
import { servedRouteKey, type CacheSettingsByGateway } from '../graph/policies.js';
import type { RuleCacheSettings } from '../graph/route-cache-settings.js';
import type { RouteNode } from '../graph/route.js';
import type { ObjectRef } from '../graph/status-plan.js';
import type { CachePolicy } from '../ir/cache-policy.js';
import type { HttpRoute, HttpRule } from '../ir/http.js';
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

/** What shapes routes besides themselves, by Gateway. */
interface Governance {
  readonly settings: CacheSettingsByGateway;
  readonly traits: ReadonlyMap<string, GatewayTrait>;
}

interface AtGateway {
  readonly id: string;
  /** By key of the route. */
  readonly written: Memo<WrittenRoute>;
  readonly trait: GatewayTrait;
  readonly settingsOf: ReadonlyMap<string, readonly RuleCacheSettings[]> | undefined;
}

const NO_SETTINGS: readonly RuleCacheSettings[] = [];

const NO_TRAIT: GatewayTrait = { routingMode: 'endpoint' };

/** Writes routes down, once for each Gateway that serves them. */
export class RouteWriter {
  readonly #libraries: Libraries;
  /** By Gateway. */
  readonly #written = new Map<string, Memo<WrittenRoute>>();
  readonly #requests = new Memo<readonly UpstreamRequest[]>();
  readonly #used = new Set<WrittenRoute>();
  readonly #order = new KeptOrder<WrittenRoute>((a, b) => compareText(a.route.key, b.route.key));
  readonly #policies = new StableValues<CachePolicy>();
  readonly #interner = new Interner();
  #governance: Governance = { settings: new Map(), traits: new Map() };
  /** The Gateway of the last call: mostly the next one is about the same. */
  #gateway: AtGateway | undefined;

  constructor(libraries: Libraries) {
    this.#libraries = libraries;
  }

  /** What shapes routes in this pass. */
  begin(governance: Governance): void {
    this.#governance = governance;
    this.#gateway = undefined;
  }

  /** Notes that the Gateway serves the routes. */
  use(routes: readonly RouteNode[], gateway: string): void {
    const at = this.#gateway?.id === gateway ? this.#gateway : this.#enter(gateway);
    for (const route of routes) {
      if (route.kind !== 'HTTPRoute' && route.kind !== 'GRPCRoute') continue;
      const { key, rules, createdAt } = route;
      const { trait, settingsOf } = at;
      const settings = settingsOf?.get(key) ?? NO_SETTINGS;
      this.#used.add(
        at.written.get(key, [rules, createdAt, trait, settings], () =>
          this.#write(route, gateway, { trait, settings }),
        ),
      );
    }
  }

  #enter(id: string): AtGateway {
    const { settings, traits } = this.#governance;
    const written = this.#written.get(id) ?? new Memo<WrittenRoute>();
    this.#written.set(id, written);
    this.#gateway = { id, written, trait: traits.get(id) ?? NO_TRAIT, settingsOf: settings.get(id) };
    return this.#gateway;
  }

  /** Everything that was used in this pass, sorted by key; requests of one upstream once. */
  written(): WrittenRoutes {
    const written = this.#order.sort([...this.#used]);
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
    for (const written of this.#written.values()) written.endPass();
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
      route: { key, kind, namespace, name, createdAt, rules: this.#share(rules) },
      requests: this.#interner.of(upstreams.requests),
      policies,
    };
  }

  /** Workers get shared parts once. A retry policy is what its budget belongs to, so every rule has its own. */
  #share(rules: readonly HttpRule[]): readonly HttpRule[] {
    if (!rules.some(({ retry }) => retry)) return this.#interner.of(rules);
    return rules.map((rule) => ({
      ...this.#interner.parts(rule),
      ...(rule.retry && { retry: rule.retry }),
    }));
  }
}
