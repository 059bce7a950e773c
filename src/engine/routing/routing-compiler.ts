import type { HttpRoute, HttpRule, VirtualHost } from '../../ir/http.js';
import type { Listener, Server } from '../../ir/listener.js';
import type { ProxyConfiguration } from '../../ir/proxy-configuration.js';
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

interface CompiledListener<R> {
  readonly table: ListenerTable<R>;
  readonly hosts: readonly VirtualHostTable<R>[];
}

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
  #hosts: ReadonlyMap<string, CompiledHost<R>> = new Map();
  #listeners: ReadonlyMap<string, CompiledListener<R>> = new Map();

  /** `compileRule` is called once for each rule object; what it answers is `Candidate.rule`. */
  constructor(compileRule: (rule: HttpRule, route: HttpRoute) => R) {
    this.#compileRule = compileRule;
  }

  compile(configuration: RoutingConfiguration): RoutingTables<R> {
    const routes = new Map(configuration.routes.map((route) => [route.key, route]));
    const hosts = new Map<string, CompiledHost<R>>();
    for (const virtualHost of configuration.virtualHosts) {
      hosts.set(virtualHost.key, this.#compileHost(virtualHost, routes));
    }
    const listeners = new Map<string, CompiledListener<R>>();
    for (const listener of configuration.listeners) {
      listeners.set(listener.key, this.#compileListener(listener, hosts));
    }
    this.#hosts = hosts;
    this.#listeners = listeners;
    return new RoutingTables(new Map([...listeners].map(([key, { table }]) => [key, table])));
  }

  #compileHost(virtualHost: VirtualHost, routesByKey: ReadonlyMap<string, HttpRoute>): CompiledHost<R> {
    const routes = present(virtualHost.routes.map((key) => routesByKey.get(key)));
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

  #compileListener(listener: Listener, hosts: ReadonlyMap<string, CompiledHost<R>>): CompiledListener<R> {
    const keys = listener.servers.flatMap(virtualHostsOf);
    const tables = present(keys.map((key) => hosts.get(key)?.table));
    const last = this.#listeners.get(listener.key);
    if (last?.table.listener === listener && isSameList(last.hosts, tables)) return last;
    const servers = listener.servers.map((server): readonly [string, ServerTable<R>] => {
      const own = present(virtualHostsOf(server).map((key) => hosts.get(key)?.table));
      return [server.hostname, { server, hosts: new VirtualHosts(own) }];
    });
    return { table: { listener, servers: new HostTable(servers) }, hosts: tables };
  }

  #candidatesOf(route: HttpRoute): readonly Candidate<R>[] {
    let candidates = this.#candidates.get(route);
    if (!candidates) {
      candidates = route.rules.flatMap((rule) => {
        const compiled = this.#compileRule(rule, route);
        return rule.matches.map((match, matchIndex) =>
          toCandidate(compiled, { route, rule, match, matchIndex }),
        );
      });
      this.#candidates.set(route, candidates);
    }
    return candidates;
  }
}

function virtualHostsOf({ application }: Server): readonly string[] {
  return application.type === 'http' ? application.virtualHosts : [];
}

function present<V>(values: readonly (V | undefined)[]): V[] {
  return values.filter((value) => value !== undefined);
}

function isSameList<V>(a: readonly V[], b: readonly V[]): boolean {
  return a.length === b.length && a.every((value, index) => value === b[index]);
}
