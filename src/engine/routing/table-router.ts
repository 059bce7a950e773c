import type { DownstreamContext } from '../exchange/downstream.js';
import type { RequestHead } from '../exchange/heads.js';
import {
  MISDIRECTED,
  NO_ROUTE,
  type RouteEntry,
  type Router,
  type RuleEntry,
} from '../exchange/route-entry.js';
import type { ListenerTable, RoutingTables } from './routing-tables.js';

/** Routes requests with the tables of the newest revision. */
export class TableRouter implements Router {
  #tables: RoutingTables<RuleEntry>;

  constructor(tables: RoutingTables<RuleEntry>) {
    this.#tables = tables;
  }

  /** Requests that come from now on are routed with these. */
  swap(tables: RoutingTables<RuleEntry>): void {
    this.#tables = tables;
  }

  route(context: DownstreamContext, head: RequestHead): RouteEntry | typeof NO_ROUTE | typeof MISDIRECTED {
    const table = this.#tables.listener(context.listener);
    return table ? matchRequest(table, context.sniServer, head) : NO_ROUTE;
  }
}

/** `sniServer` is the hostname of the server that SNI chose, undefined without TLS. */
export function matchRequest(
  table: ListenerTable<RuleEntry>,
  sniServer: string | undefined,
  head: RequestHead,
): RouteEntry | typeof NO_ROUTE | typeof MISDIRECTED {
  const server = table.servers.find(head.hostname);
  // RFC 9110 §15.5.20 and GatewayHTTPListenerIsolation: another server's routes are not for this connection.
  if (sniServer !== undefined && server?.server.hostname !== sniServer) return MISDIRECTED;
  return server?.hosts.match(head) ?? NO_ROUTE;
}
