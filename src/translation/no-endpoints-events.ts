import type { PlannedEvent } from '../graph/status-plan.js';
import type { Upstream } from '../ir/upstream.js';
import type { WrittenRoute } from './routes.js';

const NOTHING: readonly PlannedEvent[] = [];

/** A Warning on each route that sends to an upstream without endpoints. */
export function noEndpointsEvents(
  routes: readonly WrittenRoute[],
  upstreams: readonly Upstream[],
): readonly PlannedEvent[] {
  const empty = new Set(
    upstreams.filter((one) => one.endpoints.length === 0 && !one.refusal).map(({ key }) => key),
  );
  if (empty.size === 0) return NOTHING;
  return routes.flatMap(({ ref, requests }) =>
    requests.flatMap(({ key, target: { namespace, service, port } }): PlannedEvent[] => {
      if (!empty.has(key)) return [];
      const message = `Service ${namespace}/${service} has no ready endpoint for port ${port}, its share answers 503`;
      return [{ object: ref, type: 'Warning', reason: 'NoEndpoints', message }];
    }),
  );
}
