import type { KubernetesObject } from '../apis/meta.js';
import { compareText } from '../util/collections.js';

/** What decides between objects that want the same: the older wins, then the first in `namespace/name` order. */
export interface Aged {
  /** Ms since 1970. */
  readonly createdAt: number;
  /** `namespace/name`. */
  readonly id: string;
}

export function compareAge(a: Aged, b: Aged): number {
  return a.createdAt - b.createdAt || compareText(a.id, b.id);
}

/** Creation time in ms since 1970; 0 when the object carries none, so such objects are the oldest. */
export function createdAtOf(object: KubernetesObject): number {
  const time = Date.parse(object.metadata.creationTimestamp ?? '');
  return Number.isNaN(time) ? 0 : time;
}
