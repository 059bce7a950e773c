import { FieldList } from '../engine/exchange/fields.js';
import { PlainRequestHead } from '../engine/exchange/heads.js';
import { normalisePath } from '../engine/http1/normalise-path.js';
import { explainRoute } from '../engine/routing/explain-route.js';
import { RoutingCompiler } from '../engine/routing/routing-compiler.js';
import type { HttpRule } from '../ir/http.js';
import type { Listener } from '../ir/listener.js';
import type { ProxyConfiguration } from '../ir/proxy-configuration.js';

export interface ExplainedRequest {
  readonly method: string;
  readonly url: URL;
  /** `name: value` */
  readonly headers: readonly string[];
}

/**
 * Which listener, server, virtual host, route, rule and backends a request meets on each socket of its port, from the
 * tables that the workers use.
 */
export function explainRequest(
  configuration: ProxyConfiguration,
  { method, url, headers }: ExplainedRequest,
) {
  const secure = url.protocol === 'https:';
  const port = url.port === '' ? (secure ? 443 : 80) : Number(url.port);
  const path = normalisePath(`${url.pathname}${url.search}`);
  if ('problem' in path) return { problem: `400: ${path.problem}` };
  const listeners = configuration.listeners.filter((listener) => isEntrance(listener, port, secure));
  if (listeners.length === 0) {
    return { problem: `no ${secure ? 'HTTPS' : 'HTTP'} listener is on port ${String(port)}` };
  }
  const tables = new RoutingCompiler((rule: HttpRule) => rule).compile(configuration);
  const fields = new FieldList();
  for (const header of headers) {
    const [name = '', ...value] = header.split(':');
    fields.add(name.trim().toLowerCase(), value.join(':').trim());
  }
  const head = new PlainRequestHead({
    method,
    scheme: secure ? 'https' : 'http',
    authority: url.host,
    path: path.path,
    fields,
  });
  return {
    request: { method, authority: url.host, path: path.path },
    answers: listeners.map(({ key }) => {
      const explained = explainRoute(tables, { listener: key, ...(secure && { sni: url.hostname }) }, head);
      return { ...explained, ...consequence(configuration, explained) };
    }),
  };
}

function isEntrance({ port, protocol }: Listener, wanted: number, secure: boolean): boolean {
  return port === wanted && protocol === (secure ? 'tls' : 'http');
}

/** What the rule that was found does. */
function consequence(
  { routes, policies }: ProxyConfiguration,
  { route, ruleIndex }: { readonly route?: string; readonly ruleIndex?: number },
) {
  const rule = routes.find(({ key }) => key === route)?.rules.find(({ index }) => index === ruleIndex);
  if (!rule) return {};
  return {
    ...(rule.refusal && { refusal: rule.refusal }),
    filters: rule.filters.map(({ type }) => type),
    backends: rule.backends.map(({ weight, upstream, refusal, policy = rule.policy }) => ({
      weight,
      ...(upstream !== undefined && { upstream }),
      ...(refusal && { refusal }),
      cached: policies.find(({ key }) => key === policy)?.handler === 'proxycache',
    })),
  };
}
