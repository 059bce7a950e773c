import type { ListenerNode } from '../graph/listener.js';
import { Memo } from '../graph/memo.js';
import type { RouteNode } from '../graph/route.js';
import type { PlannedEvent } from '../graph/status-plan.js';
import type { VirtualHost } from '../ir/http.js';
import type { Listener, ListenerSettings, Server } from '../ir/listener.js';
import { compareText } from '../util/collections.js';
import { KeptOrder } from '../util/kept-order.js';
import type { RoutesByHostname } from './attached-routes.js';
import { draftHttpServers } from './http-servers.js';
import { HttpServerWriter } from './http-server-writer.js';
import { draftStreamServers, toStreamApplication, type StreamServerDraft } from './l4.js';
import type { Socket } from './sockets.js';
import { toServerTls } from './tls.js';
import { UpstreamNames, type UpstreamRequest, type UpstreamTraits } from './upstream-request.js';

/** What the listeners of a pass consist of. */
interface ListenerParts {
  readonly sockets: readonly Socket[];
  readonly routesOf: (listener: ListenerNode) => RoutesByHostname;
  /** Called with the routes that a virtual host asks and the Gateway that serves them. */
  readonly use: (routes: readonly RouteNode[], gateway: string) => void;
  readonly traitsOf: (gateway: string) => UpstreamTraits;
  readonly settingsOf: (port: number) => ListenerSettings;
}

interface WrittenListeners {
  readonly listeners: readonly Listener[];
  readonly virtualHosts: readonly VirtualHost[];
  /** Upstreams of stream applications. */
  readonly requests: readonly UpstreamRequest[];
  /** About routes whose matches are never reached. */
  readonly events: readonly PlannedEvent[];
}

interface StreamServer {
  readonly server: Server;
  readonly requests: readonly UpstreamRequest[];
  /** Whether the hostname is the listener's, not only that of a route. */
  readonly isOwn: boolean;
}

/** Writes sockets, their servers and virtual hosts down; what did not change is the same object as in the pass before. */
export class ListenerWriter {
  readonly #listeners = new Memo<Listener>();
  readonly #httpServers = new HttpServerWriter();
  readonly #streamServers = new Memo<StreamServer>();
  readonly #hostOrder = new KeptOrder<VirtualHost>((a, b) => compareText(a.key, b.key));

  write(parts: ListenerParts): WrittenListeners {
    const listeners: Listener[] = [];
    const virtualHosts: (readonly VirtualHost[])[] = [];
    const requests: UpstreamRequest[] = [];
    const events: PlannedEvent[] = [];
    for (const socket of parts.sockets) {
      const servers = new Map<string, Server>();
      for (const { server, requests: needed, isOwn } of this.#writeStreams(socket, parts)) {
        // A listener's own hostname beats the same hostname of another listener's route.
        if (servers.has(server.hostname) && !isOwn) continue;
        servers.set(server.hostname, server);
        requests.push(...needed);
      }
      for (const draft of draftHttpServers(onlyHttp(socket), parts.routesOf)) {
        const written = this.#httpServers.write(socket.key, draft);
        for (const { asked } of written.hosts)
          asked.forEach(({ routes, gateway }) => {
            parts.use(routes, gateway);
          });
        virtualHosts.push(written.virtualHosts);
        events.push(...written.events);
        servers.set(draft.hostname, written.server);
      }
      listeners.push(this.#writeSocket(socket, servers, parts.settingsOf(socket.port)));
    }
    return { listeners, virtualHosts: this.#hostOrder.sort(virtualHosts.flat()), requests, events };
  }

  endPass(): void {
    this.#listeners.endPass();
    this.#httpServers.endPass();
    this.#streamServers.endPass();
  }

  #writeSocket(socket: Socket, servers: ReadonlyMap<string, Server>, settings: ListenerSettings): Listener {
    const { key, address, port, protocol } = socket;
    const sorted = [...servers.keys()].sort().flatMap((hostname) => servers.get(hostname) ?? []);
    return this.#listeners.get(key, [protocol, settings, ...sorted], () => ({
      key,
      address,
      port,
      transport: protocol === 'udp' ? 'udp' : 'tcp',
      protocol,
      servers: sorted,
      settings,
    }));
  }

  #writeStreams(socket: Socket, parts: ListenerParts): readonly StreamServer[] {
    const drafts = socket.members.flatMap((listener) =>
      carriesHttp(listener) ? [] : draftStreamServers(listener, parts.routesOf(listener)),
    );
    return drafts.map((draft) => {
      const { hostname, listener, route } = draft;
      const traits = parts.traitsOf(listener.gateway);
      const key = `${socket.key}|${hostname}|${listener.key}`;
      return this.#streamServers.get(key, [listener, route, traits], () => toStreamServer(draft, traits));
    });
  }
}

function toStreamServer(draft: StreamServerDraft, traits: UpstreamTraits): StreamServer {
  const upstreams = new UpstreamNames(traits);
  const { hostname, listener } = draft;
  const tls = listener.tls && toServerTls(listener.tls);
  const server: Server = {
    hostname,
    listeners: [listener.key],
    ...(tls && { tls }),
    application: toStreamApplication(draft, upstreams),
  };
  return { server, requests: upstreams.requests, isOwn: hostname === listener.hostname };
}

function carriesHttp({ protocol, tls }: ListenerNode): boolean {
  return protocol === 'http' || tls?.carries === 'http';
}

function onlyHttp(socket: Socket): Socket {
  return { ...socket, members: socket.members.filter(carriesHttp) };
}
