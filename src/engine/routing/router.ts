import type { VirtualHost } from '../../ir/http.js';
import type { RoutableRequest, RouteTarget } from './candidate.js';
import { normalizeHost } from './host-name.js';
import type { ListenerTable, ServerTable, VirtualHostTable } from './routing-tables.js';

/**
 * Why there is no target: no match (404), or the connection's SNI chose another server than the request's host
 * does, and listeners are isolated from each other (421).
 */
export type RouteFailure = 'no-route' | 'misdirected';

/**
 * Routes the requests of one connection. Most of them are for one host, so the last answer for a host is kept;
 * it is asked again when the tables were swapped.
 */
export class Router<R> {
  /** Hostname of the server that SNI chose; `undefined` on listeners without TLS. */
  readonly #sniHostname: string | undefined;
  #table: ListenerTable<R> | undefined;
  #authority = '';
  #server: ServerTable<R> | undefined;
  #host: VirtualHostTable<R> | undefined;

  constructor(sniServer?: ServerTable<R>) {
    this.#sniHostname = sniServer?.server.hostname;
  }

  /** `table` is the listener's of the revision that this request is served with. */
  match(table: ListenerTable<R>, request: RoutableRequest): RouteTarget<R> | RouteFailure {
    if (table !== this.#table || request.authority !== this.#authority)
      this.#resolve(table, request.authority);
    // RFC 9110 §15.5.20 and GatewayHTTPListenerIsolation: another server's routes are not for this connection.
    if (this.#sniHostname !== undefined && this.#server?.server.hostname !== this.#sniHostname)
      return 'misdirected';
    return this.#host?.paths.match(request) ?? 'no-route';
  }

  /** The server that the last request's host belongs to. */
  get server(): ServerTable<R> | undefined {
    return this.#server;
  }

  /** The virtual host that the last request's host belongs to. */
  get virtualHost(): VirtualHost | undefined {
    return this.#host?.virtualHost;
  }

  #resolve(table: ListenerTable<R>, authority: string): void {
    const host = normalizeHost(authority);
    this.#table = table;
    this.#authority = authority;
    this.#server = table.servers.find(host);
    this.#host = this.#server?.hosts.find(host);
  }
}
