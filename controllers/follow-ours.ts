import { shareReplay, type Observable } from 'rxjs';

import type { KubernetesObject } from '../src/apis/meta.js';
import { filterObjects } from '../src/kube/filter-objects.js';
import type { ResourceSnapshot, ResourceSource } from '../src/kube/resource-source.js';

/**
 * What all reconcilers of this folder do. In: the objects of a kind, from a watch or from files; out: those of them
 * that can be ours as far as the object itself tells, to any number of followers of one subscription. They never link
 * objects with one another: that is the graph's.
 */
export function followOurs<T extends KubernetesObject>(
  { snapshots$ }: ResourceSource<T>,
  isOurs?: (object: T) => boolean,
): Observable<ResourceSnapshot<T>> {
  const ours$ = isOurs === undefined ? snapshots$ : snapshots$.pipe(filterObjects(isOurs));
  return ours$.pipe(shareReplay({ bufferSize: 1, refCount: true }));
}
