import type { Listener, Server } from '../../ir/listener.js';
import type { VirtualHost } from '../../ir/http.js';
import { hostnameOf } from '../exchange/heads.js';
import type { HostTable } from './host-table.js';
import type { PathTable } from './path-table.js';
import type { VirtualHosts } from './virtual-hosts.js';

/** A virtual host, ready to be asked. */
export interface VirtualHostTable<R> {
  readonly virtualHost: VirtualHost;
  readonly paths: PathTable<R>;
}

/** A server of a listener: the hostname tier chosen by SNI or Host, with its virtual hosts. */
export interface ServerTable<R> {
  readonly server: Server;
  /** Empty for servers that relay bytes. */
  readonly hosts: VirtualHosts<R>;
}

/** A listener's servers by hostname. */
export interface ListenerTable<R> {
  readonly listener: Listener;
  readonly servers: HostTable<ServerTable<R>>;
}

/**
 * The compiled routing of one revision: listener → server by hostname → virtual host by hostname → path →
 * predicates. In: the IR, through `RoutingCompiler`. Out: the target of a request. Immutable, swapped by
 * reference; a request that holds one is not touched by the next. It knows no codec and does no I/O.
 */
export class RoutingTables<R> {
  readonly #listeners: ReadonlyMap<string, ListenerTable<R>>;

  constructor(listeners: ReadonlyMap<string, ListenerTable<R>>) {
    this.#listeners = listeners;
  }

  listener(key: string): ListenerTable<R> | undefined {
    return this.#listeners.get(key);
  }

  /** Every listener, in the order of their keys. */
  listeners(): Iterable<ListenerTable<R>> {
    return this.#listeners.values();
  }
}

/** The server a ClientHello is for; without SNI only a server for any hostname is. */
export function serverBySni<R>(table: ListenerTable<R>, sni: string | undefined): ServerTable<R> | undefined {
  return table.servers.find(sni === undefined ? '' : hostnameOf(sni));
}
