import type { ObjectRef, PlannedStatus, StatusPlan } from '../graph/status-plan.js';
import { textOf } from '../kube/status-cache.js';

/** `namespace/name`, or `name` for cluster-scoped objects. */
export function objectKey({ namespace, name }: Pick<ObjectRef, 'namespace' | 'name'>): string {
  return namespace === '' ? name : `${namespace}/${name}`;
}

const texts = new WeakMap<ObjectRef, string>();
const plans = new WeakMap<StatusPlan, ReadonlyMap<string, PlannedStatus>>();

/** By the text of its object. Most of a plan is the same as of the one before, and so are the texts. */
export function planByObject(plan: StatusPlan): ReadonlyMap<string, PlannedStatus> {
  const known = plans.get(plan);
  if (known !== undefined) return known;
  const byObject = new Map(plan.map((planned) => [textOfObject(planned.object), planned]));
  plans.set(plan, byObject);
  return byObject;
}

function textOfObject(object: ObjectRef): string {
  const known = texts.get(object);
  if (known !== undefined) return known;
  const text = textOf({ kind: object.kind, key: objectKey(object) });
  texts.set(object, text);
  return text;
}
