import {
  combineLatest,
  distinctUntilChanged,
  map,
  type MonoTypeOperatorFunction,
  type Observable,
} from 'rxjs';

import type { KubernetesObject } from '../apis/meta.js';
import { sameSnapshot } from './merge-snapshots.js';
import type { ResourceSnapshot } from './resource-source.js';

/**
 * Keeps the objects that a predicate accepts. The predicate may read nothing but the object, so each version of an
 * object is asked about once. Emits nothing when what is kept did not change.
 */
export function filterObjects<T extends KubernetesObject>(
  accepts: (object: T) => boolean,
): MonoTypeOperatorFunction<ResourceSnapshot<T>> {
  const verdicts = new WeakMap<T, boolean>();
  const accepted = (object: T): boolean => {
    const known = verdicts.get(object);
    if (known !== undefined) return known;
    const verdict = accepts(object);
    verdicts.set(object, verdict);
    return verdict;
  };
  return (source) =>
    source.pipe(
      map((all) => filterSnapshot(all, accepted)),
      distinctUntilChanged(sameSnapshot),
    );
}

/** Keeps the objects of some namespaces; waits for both. */
export function narrowToNamespaces<T extends KubernetesObject>(
  namespaces$: Observable<ReadonlySet<string>>,
): MonoTypeOperatorFunction<ResourceSnapshot<T>> {
  return (source) =>
    combineLatest([source, namespaces$]).pipe(
      map(([all, namespaces]) =>
        filterSnapshot(all, ({ metadata }) => namespaces.has(metadata.namespace ?? '')),
      ),
      distinctUntilChanged(sameSnapshot),
    );
}

function filterSnapshot<T extends KubernetesObject>(
  all: ResourceSnapshot<T>,
  accepts: (object: T) => boolean,
): ResourceSnapshot<T> {
  const kept = new Map<string, T>();
  for (const [key, object] of all) {
    if (accepts(object)) kept.set(key, object);
  }
  return kept.size === all.size ? all : kept;
}
