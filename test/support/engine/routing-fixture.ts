import type { HttpMatch, HttpRoute, HttpRule, PathMatch } from '../../../src/ir/http.js';
import { DEFAULT_LISTENER_SETTINGS, type Listener, type Server } from '../../../src/ir/listener.js';
import { FieldList } from '../../../src/engine/exchange/fields.js';
import { PlainRequestHead } from '../../../src/engine/exchange/heads.js';
import type { RuleEntry } from '../../../src/engine/exchange/route-entry.js';

/** A match of the prefix `/` unless said otherwise. */
export function matchOf(match: Partial<HttpMatch> = {}): HttpMatch {
  return { path: { type: 'prefix', value: '' }, headers: [], queryParams: [], ...match };
}

export function pathMatch(type: PathMatch['type'], value: string): HttpMatch {
  return matchOf({ path: { type, value } });
}

export function ruleOf(index: number, matches: readonly HttpMatch[], rest: Partial<HttpRule> = {}): HttpRule {
  return { index, matches, filters: [], backends: [], timeouts: {}, ...rest };
}

/** A route of namespace `ns` whose rules have the given matches. */
export function routeOf(
  name: string,
  rules: readonly (readonly HttpMatch[])[],
  rest: Partial<HttpRoute> = {},
): HttpRoute {
  return {
    key: `HTTPRoute/ns/${name}@Gateway/ns/gw`,
    kind: 'HTTPRoute',
    namespace: 'ns',
    name,
    createdAt: 0,
    rules: rules.map((matches, index) => ruleOf(index, matches)),
    ...rest,
  };
}

export function serverOf(hostname: string, virtualHosts: readonly string[]): Server {
  return {
    hostname,
    listeners: [`Gateway/ns/gw/${hostname === '' ? 'any' : hostname}`],
    application: { type: 'http', virtualHosts },
  };
}

export function listenerOf(servers: readonly Server[], rest: Partial<Listener> = {}): Listener {
  return {
    key: 'tcp/127.0.0.1:80',
    address: '127.0.0.1',
    port: 80,
    transport: 'tcp',
    protocol: 'http',
    servers,
    settings: DEFAULT_LISTENER_SETTINGS,
    ...rest,
  };
}

export interface RequestFixture {
  readonly method?: string;
  readonly authority?: string;
  /** With query. */
  readonly target?: string;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
}

export function requestOf({
  method = 'GET',
  authority = 'a.test',
  target = '/',
  headers = {},
}: RequestFixture = {}): PlainRequestHead {
  const fields = new FieldList();
  for (const [name, values] of Object.entries(headers))
    for (const value of [values].flat()) fields.add(name, value);
  return new PlainRequestHead({ method, scheme: 'http', authority, path: target, fields });
}

/** A plain rule without backends. */
export function ruleEntryOf(rule: HttpRule, route: HttpRoute): RuleEntry {
  return {
    route: route.key,
    kind: route.kind,
    index: rule.index,
    name: rule.name,
    refusal: rule.refusal,
    requestSteps: [],
    responseSteps: [],
    backends: { entries: [], next: () => undefined },
    requestMs: 0,
    backendRequestMs: 0,
    awaitHeadMs: 0,
    retry: rule.retry,
    affinity: undefined,
  };
}
