import type { CachePolicyNode } from './cache-policy.js';
import { mergeCacheSettings, type CacheSettings } from './cache-settings.js';
import type { ClassParameters } from './class-parameters.js';
import type { ResolvedBackend } from './backend-ref.js';
import type { HttpRuleNode } from './http-route.js';
import type { RouteNode } from './route.js';
import type { CachePolicySettlement } from './settle-cache-policies.js';

/** What policies come to for one rule of a route as one Gateway serves it. */
export interface RuleCacheSettings {
  readonly index: number;
  /** Of the rule, and of each backend that has none of its own; absent when nobody said anything. */
  readonly rule?: CacheSettings;
  /** Of the backends whose Service has a policy. */
  readonly backends: readonly { readonly index: number; readonly settings: CacheSettings }[];
}

/** A route with what governs it at one Gateway. */
export interface GovernedRoute {
  readonly route: Extract<RouteNode, { kind: 'HTTPRoute' }>;
  /** `namespace/name`. */
  readonly gateway: string;
  readonly parameters: Pick<ClassParameters, 'cacheName' | 'negativeCacheName'>;
}

/** The settings of each rule, and whose say they are. */
export interface RouteCacheSettings {
  /** Rules that nothing governs are not there. */
  readonly rules: readonly RuleCacheSettings[];
  /** Keys of the targets whose policies were asked, sorted. */
  readonly reached: readonly string[];
  /** Those of which a setting was left. */
  readonly effective: readonly string[];
}

/**
 * Merges what governs a route, least specific first: class parameters, Gateway, HTTPRoute, rule, Service, port. A
 * Service's policy touches only the backends that are this Service, so the siblings of a weighted rule may differ.
 */
export function routeCacheSettings(
  { route, gateway, parameters }: GovernedRoute,
  { winners }: CachePolicySettlement,
): RouteCacheSettings {
  const reached = new Set<string>();
  const effective = new Set<string>();
  const rules: RuleCacheSettings[] = [];
  const above = find([`Gateway/${gateway}`, route.key], winners);
  for (const rule of route.rules.rules) {
    const own = rule.name === undefined ? [] : find([`${route.key}/${rule.name}`], winners);
    const layers = new Layers(parameters, [...above, ...own]);
    const backends = backendLayers(rule, layers, winners);
    const governsRule = rule.backends.length === 0 || backends.size < rule.backends.length;
    for (const one of [...backends.values(), ...(governsRule ? [layers] : [])]) {
      for (const { key } of one.policies) reached.add(key);
      for (const { key } of one.contributors()) effective.add(key);
    }
    if (layers.isEmpty && backends.size === 0) continue;
    rules.push({
      index: rule.index,
      ...(!layers.isEmpty && { rule: layers.merged() }),
      backends: [...backends].map(([index, one]) => ({ index, settings: one.merged() })),
    });
  }
  return { rules, reached: [...reached].sort(), effective: [...effective].sort() };
}

function backendLayers(
  { backends }: HttpRuleNode,
  layers: Layers,
  winners: CachePolicySettlement['winners'],
): ReadonlyMap<number, Layers> {
  const result = new Map<number, Layers>();
  for (const [index, { backend }] of backends.entries()) {
    const policies = policiesOfService(backend, winners);
    if (policies.length > 0) result.set(index, layers.with(policies));
  }
  return result;
}

function policiesOfService(
  backend: ResolvedBackend,
  winners: CachePolicySettlement['winners'],
): readonly Governing[] {
  if (!('target' in backend)) return [];
  const { namespace, service, portName } = backend.target;
  const key = `Service/${namespace}/${service}`;
  return find(portName === '' ? [key] : [key, `${key}/${portName}`], winners);
}

/** A policy and the target through which it governs. */
interface Governing {
  readonly key: string;
  readonly node: CachePolicyNode;
}

function find(keys: readonly string[], winners: CachePolicySettlement['winners']): readonly Governing[] {
  return keys.flatMap((key) => {
    const node = winners.get(key);
    return node ? [{ key, node }] : [];
  });
}

/** What governs one thing, least specific first. */
class Layers {
  readonly #base: CacheSettings;
  readonly policies: readonly Governing[];

  constructor(base: CacheSettings, policies: readonly Governing[]) {
    const { cacheName, negativeCacheName } = base;
    this.#base = {
      ...(cacheName !== undefined && { cacheName }),
      ...(negativeCacheName !== undefined && { negativeCacheName }),
    };
    this.policies = policies;
  }

  get isEmpty(): boolean {
    return this.policies.length === 0 && Object.keys(this.#base).length === 0;
  }

  with(policies: readonly Governing[]): Layers {
    return new Layers(this.#base, [...this.policies, ...policies]);
  }

  merged(): CacheSettings {
    return this.policies.reduce((base, { node }) => mergeCacheSettings(base, node.settings), this.#base);
  }

  /** The policies of which a setting is left after all that is more specific. */
  contributors(): readonly Governing[] {
    return this.policies.filter(({ node }, index) => {
      const later = this.policies.slice(index + 1);
      return Object.keys(node.settings).some(
        (field) => !later.some((one) => replaces(one.node.settings, field)),
      );
    });
  }
}

/** Header changes of both sides stand beside each other. */
function replaces(settings: CacheSettings, field: string): boolean {
  return field !== 'requestHeaders' && field !== 'responseHeaders' && Object.hasOwn(settings, field);
}
