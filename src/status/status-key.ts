import type { ObjectRef, PlannedStatus, StatusPlan } from '../graph/status-plan.js';
import type { StatusKey } from '../kube/status-cache.js';

/** `namespace/name`, or `name` for cluster-scoped objects. */
export function objectKey({ namespace, name }: Pick<ObjectRef, 'namespace' | 'name'>): string {
  return namespace === '' ? name : `${namespace}/${name}`;
}

/** One text for an object of any kind. */
export function textOf({ kind, key }: StatusKey): string {
  return `${kind} ${key}`;
}

export function planByObject(plan: StatusPlan): ReadonlyMap<string, PlannedStatus> {
  return new Map(
    plan.map((planned) => {
      const { object } = planned;
      return [textOf({ kind: object.kind, key: objectKey(object) }), planned];
    }),
  );
}
