import type { HttpRoute, HttpRule, VirtualHost } from '../../ir/http.js';
import type { Listener, Server } from '../../ir/listener.js';
import type { ProxyConfiguration } from '../../ir/proxy-configuration.js';
import { toExactLength } from '../../util/collections.js';
import { listDifference } from '../../util/differences.js';
import { type Candidate, toCandidate } from './candidate.js';
import { HostTable } from './host-table.js';
import { PathTable } from './path-table.js';
import { PrefixSets } from './prefix-set.js';
import {
  type ListenerTable,
  RoutingTables,
  type ServerTable,
  type VirtualHostTable,
} from './routing-tables.js';
import { VirtualHosts } from './virtual-hosts.js';

/** The sections of the configuration that routing depends on. */
export type RoutingConfiguration = Pick<ProxyConfiguration, 'listeners' | 'virtualHosts' | 'routes'>;

/** A path table and the routes that it was made of, in order. */
interface CompiledPaths<R> {
  readonly routes: readonly HttpRoute[];
  readonly paths: PathTable<R>;
}

/** What is kept of a virtual host's last compilation. */
interface CompiledHost<R> {
  readonly table: VirtualHostTable<R>;
  readonly compiled: CompiledPaths<R>;
}

/** An element that was changed, by key; undefined when it is gone. */
type Changes<V> = ReadonlyMap<string, V | undefined>;

const NO_HOSTS: readonly string[] = [];

const NOTHING: RoutingConfiguration = { listeners: [], virtualHosts: [], routes: [] };

/**
 * Compiles configurations to tables, one after the other. Work is by identity: what has the same inputs (`===`)
 * as in the compilation before is the same table. Not found: a key without an element is left out.
 */
export class RoutingCompiler<R> {
  readonly #compileRule: (rule: HttpRule, route: HttpRoute) => R;
  readonly #candidates = new WeakMap<HttpRoute, readonly Candidate<R>[]>();
  /** By first route: virtual hosts of several listeners mostly ask the same routes. */
  readonly #paths = new WeakMap<HttpRoute, CompiledPaths<R>>();
  readonly #prefixSets = new PrefixSets();
  #last = NOTHING;
  /** By key, of the last configuration; like the hosts, changed in place when all has been compiled. */
  readonly #routes = new Map<string, HttpRoute>();
  readonly #hosts = new Map<string, CompiledHost<R>>();
  #listeners: ReadonlyMap<string, ListenerTable<R>> = new Map();

  /** `compileRule` is called once for each rule object; what it answers is `Candidate.rule`. */
  constructor(compileRule: (rule: HttpRule, route: HttpRoute) => R) {
    this.#compileRule = compileRule;
  }

  /** When it throws, it was as if it had not been asked. */
  compile(configuration: RoutingConfiguration): RoutingTables<R> {
    const routes = changesOf(this.#last.routes, configuration.routes);
    const hosts = this.#compileHosts(configuration.virtualHosts, routes);
    const listeners = new Map<string, ListenerTable<R>>();
    for (const listener of configuration.listeners) {
      listeners.set(listener.key, this.#compileListener(listener, hosts));
    }
    this.#last = configuration;
    amend(this.#routes, routes);
    amend(this.#hosts, hosts);
    this.#listeners = listeners;
    return new RoutingTables(listeners);
  }

  /** Those that are other tables than before. */
  #compileHosts(
    virtualHosts: readonly VirtualHost[],
    changedRoutes: Changes<HttpRoute>,
  ): Changes<CompiledHost<R>> {
    const changed = changesOf(this.#last.virtualHosts, virtualHosts);
    const compiled = new Map<string, CompiledHost<R> | undefined>();
    for (const [key, virtualHost] of changed) if (!virtualHost) compiled.set(key, undefined);
    if (changed.size === 0 && changedRoutes.size === 0) return compiled;
    const routeOf = (key: string) =>
      changedRoutes.has(key) ? changedRoutes.get(key) : this.#routes.get(key);
    for (const virtualHost of virtualHosts) {
      const { key, routes } = virtualHost;
      if (!changed.has(key) && !routes.some((route) => changedRoutes.has(route))) continue;
      const host = this.#compileHost(virtualHost, toExactLength(present(routes.map(routeOf))));
      if (host !== this.#hosts.get(key)) compiled.set(key, host);
    }
    return compiled;
  }

  #compileHost(virtualHost: VirtualHost, routes: readonly HttpRoute[]): CompiledHost<R> {
    const last = this.#hosts.get(virtualHost.key);
    if (last?.table.virtualHost === virtualHost && isSameList(last.compiled.routes, routes)) return last;
    const compiled = this.#compilePaths(routes);
    return { table: { virtualHost, paths: compiled.paths }, compiled };
  }

  #compilePaths(routes: readonly HttpRoute[]): CompiledPaths<R> {
    const [first] = routes;
    const known = first && this.#paths.get(first);
    if (known && isSameList(known.routes, routes)) return known;
    const candidates = routes.flatMap((route) => this.#candidatesOf(route));
    const compiled = { routes, paths: new PathTable(candidates, this.#prefixSets) };
    if (first) this.#paths.set(first, compiled);
    return compiled;
  }

  #compileListener(listener: Listener, changed: Changes<CompiledHost<R>>): ListenerTable<R> {
    const last = this.#listeners.get(listener.key);
    const servers = listener.servers.map((server): readonly [string, ServerTable<R>] => {
      const before = last?.servers.get(server.hostname);
      return [server.hostname, this.#compileServer(server, before, changed)];
    });
    const isSame = servers.every(([hostname, table]) => last?.servers.get(hostname) === table);
    return last?.listener === listener && isSame ? last : { listener, servers: new HostTable(servers) };
  }

  #compileServer(
    server: Server,
    before: ServerTable<R> | undefined,
    changed: Changes<CompiledHost<R>>,
  ): ServerTable<R> {
    const keys = virtualHostsOf(server);
    const tableOf = (key: string) => (changed.has(key) ? changed.get(key) : this.#hosts.get(key))?.table;
    const compileAll = () => ({ server, hosts: new VirtualHosts(present(keys.map(tableOf))) });
    if (!before || keys !== virtualHostsOf(before.server)) return compileAll();
    const own = changed.size === 0 ? [] : keys.filter((key) => changed.has(key));
    if (own.length === 0) return before.server === server ? before : { server, hosts: before.hosts };
    const tables = present(own.map(tableOf));
    const hosts = tables.length === own.length ? before.hosts.with(tables) : undefined;
    return hosts ? { server, hosts } : compileAll();
  }

  #candidatesOf(route: HttpRoute): readonly Candidate<R>[] {
    let candidates = this.#candidates.get(route);
    if (!candidates) {
      candidates = toExactLength(
        route.rules.flatMap((rule) => {
          const compiled = this.#compileRule(rule, route);
          return rule.matches.map((match, matchIndex) =>
            toCandidate(compiled, { route, rule, match, matchIndex }),
          );
        }),
      );
      this.#candidates.set(route, candidates);
    }
    return candidates;
  }
}

function virtualHostsOf({ application }: Server): readonly string[] {
  return application.type === 'http' ? application.virtualHosts : NO_HOSTS;
}

function changesOf<V extends { readonly key: string }>(
  before: readonly V[],
  after: readonly V[],
): Changes<V> {
  const { removed, added } = listDifference(before, after);
  return new Map([
    ...removed.map(({ key }) => [key, undefined] as const),
    ...added.map((element) => [element.key, element] as const),
  ]);
}

function amend<V>(table: Map<string, V>, changes: Changes<V>): void {
  for (const [key, value] of changes) {
    if (value === undefined) table.delete(key);
    else table.set(key, value);
  }
}

function present<V>(values: readonly (V | undefined)[]): V[] {
  return values.filter((value) => value !== undefined);
}

function isSameList<V>(a: readonly V[], b: readonly V[]): boolean {
  return a.length === b.length && a.every((value, index) => value === b[index]);
}
