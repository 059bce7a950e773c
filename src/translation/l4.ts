import type { BackendNode } from '../graph/http-rule.js';
import type { ListenerNode } from '../graph/listener.js';
import type { RouteNode } from '../graph/route.js';
import type { WeightedBackend } from '../ir/http.js';
import type { StreamApplication } from '../ir/listener.js';
import type { RoutesByHostname } from './attached-routes.js';
import type { UpstreamNames } from './upstream-request.js';

/** A hostname of a listener that carries bytes, with the route that gets them. */
export interface StreamServerDraft {
  readonly hostname: string;
  readonly listener: ListenerNode;
  /** The oldest of those that want the hostname; all are accepted, one serves (GEP-2644). */
  readonly route?: RouteNode;
}

/** The listener's own hostname is always there: a host without a route must not fall to a broader listener. */
export function draftStreamServers(
  listener: ListenerNode,
  routes: RoutesByHostname,
): readonly StreamServerDraft[] {
  const hostnames = new Set([listener.hostname, ...routes.keys()]);
  return [...hostnames].sort().map((hostname) => {
    const [route] = routes.get(hostname) ?? [];
    return route ? { hostname, listener, route } : { hostname, listener };
  });
}

export function toStreamApplication(
  { listener, route }: StreamServerDraft,
  upstreams: UpstreamNames,
): StreamApplication {
  if (!route || route.kind === 'HTTPRoute' || route.kind === 'GRPCRoute')
    return { type: 'stream', backends: [] };
  const isTerminated = listener.tls?.mode === 'terminate';
  return {
    type: 'stream',
    route: route.key,
    backends: route.rules.backends.map((backend) => toBackend(backend, isTerminated, upstreams)),
  };
}

function toBackend(
  { weight, backend }: BackendNode,
  isTerminated: boolean,
  upstreams: UpstreamNames,
): WeightedBackend {
  if ('problem' in backend) {
    return { weight, filters: [], refusal: { status: 500, reason: backend.problem.message } };
  }
  const upstream = isTerminated ? upstreams.terminated(backend.target) : upstreams.relayed(backend.target);
  return { weight, filters: [], upstream };
}
