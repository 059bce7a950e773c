import { keepEqual, PassCache, sameItems } from '../graph/memo.js';
import type { PlannedEvent } from '../graph/status-plan.js';
import { printHostname } from '../graph/hostname.js';
import { PathConflicts } from './path-conflicts.js';
import type { VirtualHost } from '../ir/http.js';
import type { Server } from '../ir/listener.js';
import { mergeVirtualHosts, virtualHostKey, type RouteUse, type ServerDraft } from './http-servers.js';
import { servedRouteKey } from '../graph/policies.js';
import { toServerTls } from './tls.js';

interface WrittenServer {
  readonly server: Server;
  readonly virtualHosts: readonly VirtualHost[];
  /** What the virtual hosts ask, each once. */
  readonly uses: readonly RouteUse[];
  /** About matches that are never reached. */
  readonly events: readonly PlannedEvent[];
}

interface Entry extends WrittenServer {
  readonly inputs: readonly unknown[];
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
    const known = servers.find(draft.hostname);
    if (known && sameItems(known.inputs, inputs)) return known;
    const entry = { inputs, ...writeServer(socket, draft, { before: known, conflicts: this.#conflicts }) };
    servers.set(draft.hostname, entry);
    return entry;
  }

  endPass(): void {
    for (const servers of this.#sockets.values()) servers.endPass();
  }
}

function writeServer(
  socket: string,
  draft: ServerDraft,
  { before, conflicts }: { readonly before: WrittenServer | undefined; readonly conflicts: PathConflicts },
): WrittenServer {
  const { hostname, listeners } = draft;
  const known = new Map(before?.virtualHosts.map((host) => [host.key, host]));
  const uses = new Map<string, RouteUse>();
  const events: PlannedEvent[] = [];
  const virtualHosts = [...mergeVirtualHosts(draft)].map(([name, used]): VirtualHost => {
    const key = virtualHostKey(socket, hostname, name);
    events.push(
      ...conflicts.find(
        printHostname(name),
        used.map(({ route }) => route),
      ),
    );
    const routes = used.map((use) => {
      const route = servedRouteKey(use.route, use.gateway);
      uses.set(route, use);
      return route;
    });
    return keepEqual(known.get(key), { key, hostname: name, routes: [...new Set(routes)].sort() });
  });
  const ending = listeners[0]?.tls;
  const tls = ending && toServerTls(ending);
  const server: Server = {
    hostname,
    listeners: listeners.map(({ key }) => key),
    ...(tls && { tls }),
    application: { type: 'http', virtualHosts: virtualHosts.map(({ key }) => key).sort() },
  };
  return {
    server: keepEqual(before?.server, server),
    virtualHosts: keepEqual(before?.virtualHosts, virtualHosts),
    uses: [...uses.values()],
    events,
  };
}
