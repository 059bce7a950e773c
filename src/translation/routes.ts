import type { Libraries } from '../graph/libraries.js';
import { Memo } from '../graph/memo.js';
import type { RouteNode } from '../graph/route.js';
import type { HttpRoute } from '../ir/http.js';
import type { GatewayTrait } from './gateway-traits.js';
import { toRules, type HttpCarryingRoute } from './http-rules.js';
import { UpstreamNames, type UpstreamRequest } from './upstream-request.js';

interface WrittenRoute {
  readonly route: HttpRoute;
  readonly requests: readonly UpstreamRequest[];
}

const NO_TRAIT: GatewayTrait = { routingMode: 'endpoint' };

/** Writes routes down, once for each Gateway that serves them. */
export class RouteWriter {
  readonly #libraries: Libraries;
  readonly #memo = new Memo<WrittenRoute>();
  readonly #used = new Map<string, WrittenRoute>();

  constructor(libraries: Libraries) {
    this.#libraries = libraries;
  }

  /** Key of the route as the Gateway serves it; undefined when it carries no HTTP. */
  use(route: RouteNode, gateway: string, traits: ReadonlyMap<string, GatewayTrait>): string | undefined {
    if (route.kind !== 'HTTPRoute' && route.kind !== 'GRPCRoute') return undefined;
    const key = `${route.key}@Gateway/${gateway}`;
    if (this.#used.has(key)) return key;
    const trait = traits.get(gateway) ?? NO_TRAIT;
    const { rules, createdAt } = route;
    const written = this.#memo.get(key, [rules, createdAt, trait], () => this.#write(key, route, trait));
    this.#used.set(key, written);
    return key;
  }

  /** Everything that was used in this pass, sorted by key. */
  written(): { readonly routes: readonly HttpRoute[]; readonly requests: readonly UpstreamRequest[] } {
    const written = [...this.#used.keys()].sort().flatMap((key) => this.#used.get(key) ?? []);
    return {
      routes: written.map(({ route }) => route),
      requests: written.flatMap(({ requests }) => requests),
    };
  }

  endPass(): void {
    this.#memo.endPass();
    this.#used.clear();
  }

  #write(key: string, route: HttpCarryingRoute, trait: GatewayTrait): WrittenRoute {
    const upstreams = new UpstreamNames(trait);
    const { kind, namespace, name, createdAt } = route;
    const traits = { ...trait, regexProblem: (pattern: string) => this.#libraries.regexProblem(pattern) };
    const rules = toRules(route, traits, upstreams);
    return { route: { key, kind, namespace, name, createdAt, rules }, requests: upstreams.requests };
  }
}
