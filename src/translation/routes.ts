import type { Libraries } from '../graph/libraries.js';
import { compareText } from '../util/collections.js';
import { Memo } from '../graph/memo.js';
import type { RouteNode } from '../graph/route.js';
import type { HttpRoute } from '../ir/http.js';
import type { GatewayTrait } from './gateway-traits.js';
import { toRules, type HttpCarryingRoute } from './http-rules.js';
import { distinctRequests, UpstreamNames, type UpstreamRequest } from './upstream-request.js';

interface WrittenRoute {
  readonly route: HttpRoute;
  readonly requests: readonly UpstreamRequest[];
}

const NO_TRAIT: GatewayTrait = { routingMode: 'endpoint' };

/** Key of a route as a Gateway serves it. */
export function routeKey(route: RouteNode, gateway: string): string {
  return `${route.key}@Gateway/${gateway}`;
}

/** Writes routes down, once for each Gateway that serves them. */
export class RouteWriter {
  readonly #libraries: Libraries;
  /** By Gateway, then route. */
  readonly #gateways = new Map<string, Memo<WrittenRoute>>();
  readonly #requests = new Memo<readonly UpstreamRequest[]>();
  readonly #used = new Set<WrittenRoute>();

  constructor(libraries: Libraries) {
    this.#libraries = libraries;
  }

  /** Notes that the Gateway serves the route. */
  use(route: RouteNode, gateway: string, trait: GatewayTrait = NO_TRAIT): void {
    if (route.kind !== 'HTTPRoute' && route.kind !== 'GRPCRoute') return;
    const routes = this.#gateways.get(gateway) ?? new Memo<WrittenRoute>();
    this.#gateways.set(gateway, routes);
    const { key, rules, createdAt } = route;
    this.#used.add(routes.get(key, [rules, createdAt, trait], () => this.#write(route, gateway, trait)));
  }

  /** Everything that was used in this pass, sorted by key; requests of one upstream once. */
  written(): { readonly routes: readonly HttpRoute[]; readonly requests: readonly UpstreamRequest[] } {
    const written = [...this.#used].sort((a, b) => compareText(a.route.key, b.route.key));
    const requests = written.map((one) => one.requests);
    return {
      routes: written.map(({ route }) => route),
      requests: this.#requests.get('all', requests, () => distinctRequests(requests.flat())),
    };
  }

  endPass(): void {
    for (const routes of this.#gateways.values()) routes.endPass();
    this.#requests.endPass();
    this.#used.clear();
  }

  #write(route: HttpCarryingRoute, gateway: string, trait: GatewayTrait): WrittenRoute {
    const upstreams = new UpstreamNames(trait);
    const { kind, namespace, name, createdAt } = route;
    const traits = { ...trait, regexProblem: (pattern: string) => this.#libraries.regexProblem(pattern) };
    const rules = toRules(route, traits, upstreams);
    const key = routeKey(route, gateway);
    return { route: { key, kind, namespace, name, createdAt, rules }, requests: upstreams.requests };
  }
}
