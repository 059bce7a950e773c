import { coversHostname, hostnameChain, intersectHostnames, printHostname } from '../graph/hostname.js';
import type { ListenerNode } from '../graph/listener.js';
import type { RouteNode } from '../graph/route.js';
import type { RoutesByHostname } from './attached-routes.js';
import type { Socket } from './sockets.js';

/** A server of a socket before it is written down. */
export interface ServerDraft {
  readonly hostname: string;
  /** Those with the hostname, the oldest first; TLS is that of the first. */
  readonly listeners: readonly ListenerNode[];
  /** Those whose routes are asked: of each Gateway one. */
  readonly answering: readonly RoutesOfListener[];
}

/** The routes that answer for a host, as one Gateway serves them. */
export interface AskedRoutes {
  readonly gateway: string;
  readonly routes: readonly RouteNode[];
}

interface RoutesOfListener {
  readonly listener: ListenerNode;
  readonly routes: RoutesByHostname;
}

/**
 * The servers of a socket that carries HTTP. A server answers for the hosts whose most specific server it is; for
 * such a host each Gateway on the socket answers with its own most specific listener (listener isolation is a matter
 * of one Gateway), and among the hostnames of those listeners' routes only the most specific one is asked.
 */
export function draftHttpServers(
  socket: Socket,
  routesOf: (listener: ListenerNode) => RoutesByHostname,
): readonly ServerDraft[] {
  const members = socket.members.map((listener) => ({ listener, routes: routesOf(listener) }));
  const byHostname = groupByHostname(members);
  const shares = new Set(members.map(({ listener }) => listener.gateway)).size > 1;
  const extra = shares ? ownServersOfHosts(byHostname.get('') ?? []) : new Map<string, RoutesOfListener>();
  const hostnames = new Set([...byHostname.keys(), ...extra.keys()]);
  return [...hostnames].sort().map((hostname) => {
    const own = byHostname.get(hostname);
    const answering = shares ? answeringFor(hostname, byHostname) : (own ?? []);
    const first = own ?? [extra.get(hostname)].flatMap((one) => one ?? []);
    return { hostname, listeners: first.map(({ listener }) => listener), answering };
  });
}

function groupByHostname(members: readonly RoutesOfListener[]): Map<string, RoutesOfListener[]> {
  const groups = new Map<string, RoutesOfListener[]>();
  for (const member of members) {
    const { hostname } = member.listener;
    const group = groups.get(hostname);
    if (group) group.push(member);
    else groups.set(hostname, [member]);
  }
  return groups;
}

/**
 * Gateways of several namespaces may each have an HTTPS listener without a hostname. The oldest shows its certificate
 * to whoever asks for an unknown name; the others theirs for the hosts of their routes.
 */
function ownServersOfHosts([oldest, ...others]: readonly RoutesOfListener[]): Map<string, RoutesOfListener> {
  const servers = new Map<string, RoutesOfListener>();
  if (oldest?.listener.tls === undefined) return servers;
  for (const member of others) {
    for (const hostname of member.routes.keys()) {
      if (hostname !== '' && !servers.has(hostname)) servers.set(hostname, member);
    }
  }
  return servers;
}

/** Each Gateway's most specific listener for the hosts of the server. */
function answeringFor(
  hostname: string,
  byHostname: ReadonlyMap<string, readonly RoutesOfListener[]>,
): readonly RoutesOfListener[] {
  const byGateway = new Map<string, RoutesOfListener>();
  for (const candidate of hostnameChain(hostname)) {
    for (const member of byHostname.get(candidate) ?? []) {
      const { gateway } = member.listener;
      if (!byGateway.has(gateway)) byGateway.set(gateway, member);
    }
  }
  return [...byGateway.values()];
}

/** A virtual host before it is written down. */
interface HostDraft {
  /** Its hostname as the routes have it: what decides between two that meet in one virtual host. */
  readonly written: string;
  readonly asked: AskedRoutes[];
}

/** What each hostname of a server asks. */
export function mergeVirtualHosts({
  hostname: server,
  answering,
}: ServerDraft): ReadonlyMap<string, HostDraft> {
  const hosts = new Map<string, HostDraft>();
  for (const { listener, routes } of answering) {
    for (const written of hostnamesWithin(server, listener, routes)) {
      const hostname = intersectHostnames(written, server) ?? server;
      const asked = { gateway: listener.gateway, routes: routes.get(written) ?? [] };
      const known = hosts.get(hostname);
      if (known?.written === written) known.asked.push(asked);
      else if (!known || coversHostname(known.written, written)) {
        hosts.set(hostname, { written, asked: [asked] });
      }
    }
  }
  return hosts;
}

/** The hostnames of a listener's routes that can meet a host of the server. */
function hostnamesWithin(
  server: string,
  listener: ListenerNode,
  routes: RoutesByHostname,
): readonly string[] {
  // Everything a listener's routes answer for is within the listener.
  if (listener.hostname === server) return [...routes.keys()];
  const above = hostnameChain(server).find((hostname) => routes.has(hostname));
  const below = server.startsWith('*.')
    ? [...routes.keys()].filter((hostname) => hostname !== server && coversHostname(server, hostname))
    : [];
  return above === undefined ? below : [above, ...below];
}

/** `<listener key>|<server hostname or *>|<hostname or *>`. */
export function virtualHostKey(socket: string, server: string, hostname: string): string {
  return `${socket}|${printHostname(server)}|${printHostname(hostname)}`;
}
