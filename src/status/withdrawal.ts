import type { DesiredStatus, PlannedStatus } from '../graph/status-plan.js';
import type { ObservedStatus, StatusKey } from '../kube/status-cache.js';
import { isJsonObject } from '../kube/json.js';

/** The status of an object that is none of ours any more: no entry of this controller. Undefined when it has no lists. */
export function withdrawal({ kind, key }: StatusKey, observed: ObservedStatus): PlannedStatus | undefined {
  const status = nothing(observed.status);
  if (status === undefined) return undefined;
  const slash = key.indexOf('/');
  const namespace = slash < 0 ? '' : key.slice(0, slash);
  const object = { kind, namespace, name: key.slice(slash + 1), uid: observed.uid };
  return { object, generation: observed.generation, status };
}

function nothing(status: unknown): DesiredStatus | undefined {
  if (!isJsonObject(status)) return undefined;
  if (Array.isArray(status['parents'])) return { shape: 'route', parents: [] };
  return Array.isArray(status['ancestors']) ? { shape: 'policy', ancestors: [] } : undefined;
}
