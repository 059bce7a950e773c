import { keepEqual, PassCache, sameItems } from '../graph/memo.js';
import type { PlannedEvent } from '../graph/status-plan.js';
import { printHostname } from '../graph/hostname.js';
import { changedKeys } from '../util/differences.js';
import { PathConflicts } from './path-conflicts.js';
import type { VirtualHost } from '../ir/http.js';
import type { Server } from '../ir/listener.js';
import { mergeVirtualHosts, virtualHostKey, type AskedRoutes, type ServerDraft } from './http-servers.js';
import { servedRouteKey } from '../graph/policies.js';
import { toServerTls } from './tls.js';

interface WrittenServer {
  readonly server: Server;
  readonly virtualHosts: readonly VirtualHost[];
  readonly hosts: readonly WrittenHost[];
  /** About matches that are never reached. */
  readonly events: readonly PlannedEvent[];
}

interface WrittenHost {
  readonly virtualHost: VirtualHost;
  /** What it asks. */
  readonly asked: readonly AskedRoutes[];
  readonly events: readonly PlannedEvent[];
}

interface Entry extends WrittenServer {
  readonly draft: ServerDraft;
  readonly inputs: readonly unknown[];
  /** By hostname; its passes are those in which the server is written. */
  readonly known: PassCache<WrittenHost>;
}

/** Writes servers that carry HTTP, with their virtual hosts. */
export class HttpServerWriter {
  /** By socket, then hostname: both keys are at hand, joining them would be the dearest part of an unchanged pass. */
  readonly #sockets = new Map<string, PassCache<Entry>>();

  readonly #conflicts = new PathConflicts();

  write(socket: string, draft: ServerDraft): WrittenServer {
    const servers = this.#sockets.get(socket) ?? new PassCache<Entry>();
    this.#sockets.set(socket, servers);
    const inputs = [
      ...draft.listeners,
      '|',
      ...draft.answering.flatMap(({ listener, routes }) => [listener, routes]),
    ];
    const before = servers.find(draft.hostname);
    if (before && sameItems(before.inputs, inputs)) return before;
    const known = before?.known ?? new PassCache<WrittenHost>();
    const written =
      (before && this.#amend(socket, draft, before)) ??
      writeServer(draft, this.#writeHosts(socket, draft, known), before);
    const entry = { draft, inputs, known, ...written };
    servers.set(draft.hostname, entry);
    return entry;
  }

  #writeHosts(socket: string, draft: ServerDraft, known: PassCache<WrittenHost>): readonly WrittenHost[] {
    const hosts = [...mergeVirtualHosts(draft)].map(([hostname, { asked }]) =>
      this.#writeHost({ socket, server: draft.hostname, hostname }, asked, known),
    );
    known.endPass();
    return hosts;
  }

  /**
   * Writes only the hosts that ask other routes than before. Undefined when that would not do: the hosts are not those
   * of one listener, or other ones, or most of them.
   */
  #amend(socket: string, draft: ServerDraft, before: Entry): WrittenServer | undefined {
    const { hostname: server } = draft;
    const [was, is] = [onlyAnswering(before.draft), onlyAnswering(draft)];
    if (!was || was.listener !== is?.listener || !sameItems(before.draft.listeners, draft.listeners)) {
      return undefined;
    }
    const changed = changedKeys(was.routes, is.routes);
    if (changed.size > FEW) return undefined;
    const hosts = [...before.hosts];
    for (const hostname of changed) {
      const place = hosts.findIndex(({ virtualHost }) => virtualHost.hostname === hostname);
      const routes = is.routes.get(hostname);
      if (place < 0 || !routes) return undefined;
      const asked = [{ gateway: is.listener.gateway, routes }];
      hosts[place] = this.#writeHost({ socket, server, hostname }, asked, before.known);
    }
    return { ...writtenHosts(hosts, before), server: before.server };
  }

  endPass(): void {
    for (const servers of this.#sockets.values()) servers.endPass();
  }

  #writeHost(place: Place, asked: readonly AskedRoutes[], known: PassCache<WrittenHost>): WrittenHost {
    const { socket, server, hostname } = place;
    const before = known.find(hostname);
    if (before && isSame(before.asked, asked)) return before;
    const key = virtualHostKey(socket, server, hostname);
    const routes = new Set(
      asked.flatMap(({ gateway, routes }) => routes.map((route) => servedRouteKey(route, gateway))),
    );
    const written = {
      virtualHost: keepEqual(before?.virtualHost, { key, hostname, routes: [...routes].sort() }),
      asked,
      events: this.#conflicts.find(
        printHostname(hostname),
        asked.flatMap(({ routes }) => routes),
      ),
    };
    known.set(hostname, written);
    return written;
  }
}

/** Each of them is searched. */
const FEW = 16;

/** The listener that answers for the server alone: then its hosts are those of the listener's routes. */
function onlyAnswering({ hostname, answering }: ServerDraft): ServerDraft['answering'][number] | undefined {
  const [only] = answering;
  return answering.length === 1 && only?.listener.hostname === hostname ? only : undefined;
}

/** Where a virtual host is. */
interface Place {
  readonly socket: string;
  readonly server: string;
  readonly hostname: string;
}

function isSame(a: readonly AskedRoutes[], b: readonly AskedRoutes[]): boolean {
  return (
    a.length === b.length &&
    a.every(({ gateway, routes }, index) => b[index]?.gateway === gateway && b[index].routes === routes)
  );
}

function writeServer(
  { hostname, listeners }: ServerDraft,
  hosts: readonly WrittenHost[],
  before: WrittenServer | undefined,
): WrittenServer {
  const virtualHosts = hosts.map(({ virtualHost }) => virtualHost);
  const ending = listeners[0]?.tls;
  const tls = ending && toServerTls(ending);
  const server: Server = {
    hostname,
    listeners: listeners.map(({ key }) => key),
    ...(tls && { tls }),
    application: { type: 'http', virtualHosts: keysOf(virtualHosts, before) },
  };
  return { ...writtenHosts(hosts, before), server: keepEqual(before?.server, server) };
}

function writtenHosts(
  hosts: readonly WrittenHost[],
  before: WrittenServer | undefined,
): Omit<WrittenServer, 'server'> {
  const virtualHosts = hosts.map(({ virtualHost }) => virtualHost);
  return {
    virtualHosts: before && sameItems(before.virtualHosts, virtualHosts) ? before.virtualHosts : virtualHosts,
    hosts,
    events: hosts.flatMap(({ events }) => events),
  };
}

/** Sorted. What a host asks changes more often than which hosts there are. */
function keysOf(virtualHosts: readonly VirtualHost[], before: WrittenServer | undefined): readonly string[] {
  const isSame =
    before?.virtualHosts.length === virtualHosts.length &&
    virtualHosts.every(({ key }, index) => before.virtualHosts[index]?.key === key);
  return isSame && before.server.application.type === 'http'
    ? before.server.application.virtualHosts
    : virtualHosts.map(({ key }) => key).sort();
}
