import type { RequestHead } from '../exchange/heads.js';
import { type RoutingTables, serverBySni, type ServerTable } from './routing-tables.js';

/** What a request meets, by name; what is absent was not reached. */
interface RouteExplanation {
  /** `misdirected` is answered 421; all but `found` and that 404, or with TLS no handshake for `no-server`. */
  readonly outcome: 'found' | 'no-route' | 'no-host' | 'no-server' | 'misdirected' | 'no-listener';
  /** Hostname as it is matched. */
  readonly host: string;
  readonly listener?: string;
  /** Names of the Gateway API listeners behind the server. */
  readonly listeners?: readonly string[];
  /** `''` is the server for any hostname. */
  readonly serverHostname?: string;
  readonly virtualHost?: string;
  readonly route?: string;
  readonly ruleIndex?: number;
  readonly ruleName?: string;
  readonly matchIndex?: number;
}

/** Where a request comes in: a listener's key and, for TLS, the name in the ClientHello. */
interface Entrance {
  readonly listener: string;
  readonly sni?: string;
}

/** Answers from the very tables that serve, so that what is explained is what happens. */
export function explainRoute<R>(
  tables: RoutingTables<R>,
  entrance: Entrance,
  head: RequestHead,
): RouteExplanation {
  const host = head.hostname;
  const table = tables.listener(entrance.listener);
  if (!table) return { outcome: 'no-listener', host };
  const reached = { host, listener: entrance.listener };
  const server = table.servers.find(host);
  if (table.listener.protocol === 'tls') {
    const sniServer = serverBySni(table, entrance.sni);
    if (!sniServer) return { outcome: 'no-server', ...reached };
    if (sniServer !== server) return { outcome: 'misdirected', ...reached };
  }
  return server ? { ...reached, ...explainServer(server, head) } : { outcome: 'no-server', ...reached };
}

function explainServer<R>(
  { server, hosts }: ServerTable<R>,
  head: RequestHead,
): Omit<RouteExplanation, 'host'> {
  const served = { listeners: server.listeners, serverHostname: server.hostname };
  const hostTable = hosts.find(head.hostname);
  if (!hostTable) return { outcome: 'no-host', ...served };
  const hosted = { ...served, virtualHost: hostTable.virtualHost.key };
  const found = hostTable.paths.match(head);
  if (!found) return { outcome: 'no-route', ...hosted };
  const { route, rule, matchIndex } = found.source;
  const named = rule.name === undefined ? {} : { ruleName: rule.name };
  return { outcome: 'found', ...hosted, route: route.key, ruleIndex: rule.index, matchIndex, ...named };
}
