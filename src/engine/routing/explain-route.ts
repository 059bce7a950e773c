import type { RoutableRequest } from './candidate.js';
import { normalizeHost } from './host-name.js';
import { type RouteFailure, Router } from './router.js';
import { type RoutingTables, serverBySni } from './routing-tables.js';

/** What a request meets, by name; what is absent was not reached. */
export interface RouteExplanation {
  readonly outcome: 'found' | RouteFailure | 'no-listener' | 'no-server';
  /** Hostname as it is matched. */
  readonly host: string;
  readonly listener?: string;
  /** Names of the Gateway API listeners behind the server. */
  readonly listeners?: readonly string[];
  /** `''` is the server, or virtual host, for any hostname. */
  readonly serverHostname?: string;
  readonly virtualHost?: string;
  readonly route?: string;
  readonly ruleIndex?: number;
  readonly ruleName?: string;
  readonly matchIndex?: number;
}

/** Where a request comes in: a listener's key and, for TLS, the name in the ClientHello. */
export interface Entrance {
  readonly listener: string;
  readonly sni?: string;
}

/** Answers from the very tables that serve, so that what is explained is what happens. */
export function explainRoute<R>(
  tables: RoutingTables<R>,
  entrance: Entrance,
  request: RoutableRequest,
): RouteExplanation {
  const host = normalizeHost(request.authority);
  const table = tables.listener(entrance.listener);
  if (!table) return { outcome: 'no-listener', host };
  const reached = { host, listener: entrance.listener };
  const isTls = table.listener.protocol === 'tls';
  const sniServer = isTls ? serverBySni(table, entrance.sni) : undefined;
  if (isTls && !sniServer) return { outcome: 'no-server', ...reached };
  const router = new Router(sniServer);
  const result = router.match(table, request);
  const { server } = router.server ?? {};
  if (!server) return { outcome: result === 'misdirected' ? result : 'no-server', ...reached };
  const served = { ...reached, listeners: server.listeners, serverHostname: server.hostname };
  if (result === 'misdirected') return { outcome: result, ...served };
  const hosted = router.virtualHost ? { ...served, virtualHost: router.virtualHost.key } : served;
  if (result === 'no-route') return { outcome: result, ...hosted };
  const { route, rule, matchIndex } = result;
  const named = rule.name === undefined ? {} : { ruleName: rule.name };
  return { outcome: 'found', ...hosted, route: route.key, ruleIndex: rule.index, matchIndex, ...named };
}
