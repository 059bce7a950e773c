import type { Observable } from 'rxjs';

import type { Kind } from '../apis/kinds.js';
import type { KubernetesObject } from '../apis/meta.js';

/**
 * All objects of a kind at one moment, by `namespace/name`. An object whose read fields did not change since the
 * snapshot before is the same object (`===`).
 */
export type ResourceSnapshot<T extends KubernetesObject = KubernetesObject> = ReadonlyMap<string, T>;

/**
 * Where the objects of one kind come from: a Reflector of the API server or the file source. The stream holds
 * state: it starts with the first complete list, never fails, and a kind that the API server does not serve
 * gives an empty snapshot.
 */
export interface ResourceSource<T extends KubernetesObject = KubernetesObject> {
  readonly kind: Kind;
  readonly snapshots$: Observable<ResourceSnapshot<T>>;
}
