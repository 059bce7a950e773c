import { combineLatest, distinctUntilChanged, map, of, type Observable } from 'rxjs';

import type { KubernetesObject } from '../apis/meta.js';
import type { ResourceSnapshot } from './resource-source.js';

/** One snapshot of all; the first when every part has one. Of two objects with one key the later part's counts. */
export function mergeSnapshots<T extends KubernetesObject>(
  parts: readonly Observable<ResourceSnapshot<T>>[],
): Observable<ResourceSnapshot<T>> {
  if (parts.length === 0) return of(new Map<string, T>());
  if (parts.length === 1 && parts[0] !== undefined) return parts[0];
  return combineLatest(parts).pipe(
    map((snapshots) => new Map(snapshots.flatMap((snapshot) => [...snapshot]))),
    distinctUntilChanged(sameSnapshot),
  );
}

/** Whether two snapshots hold the very same objects. */
export function sameSnapshot<T extends KubernetesObject>(
  a: ResourceSnapshot<T>,
  b: ResourceSnapshot<T>,
): boolean {
  if (a === b) return true;
  if (a.size !== b.size) return false;
  for (const [key, object] of a) {
    if (b.get(key) !== object) return false;
  }
  return true;
}
