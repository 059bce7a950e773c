import {
  combineLatest,
  distinctUntilChanged,
  map,
  scan,
  type MonoTypeOperatorFunction,
  type Observable,
} from 'rxjs';

import type { KubernetesObject } from '../apis/meta.js';
import { changedKeys } from '../util/differences.js';
import { sameSnapshot } from './merge-snapshots.js';
import type { ResourceSnapshot } from './resource-source.js';

/**
 * Keeps the objects that a predicate accepts. The predicate may read nothing but the object, so each version of an
 * object is asked about once. Emits nothing when what is kept did not change.
 */
export function filterObjects<T extends KubernetesObject>(
  accepts: (object: T) => boolean,
): MonoTypeOperatorFunction<ResourceSnapshot<T>> {
  return (source) =>
    source.pipe(
      scan((last: Filtered<T>, all) => ({ all, kept: amend(last, all, accepts) }), NOTHING),
      map(({ kept }) => kept),
      distinctUntilChanged(),
    );
}

interface Filtered<T extends KubernetesObject> {
  readonly all: ResourceSnapshot<T>;
  readonly kept: ResourceSnapshot<T>;
}

const EMPTY: ReadonlyMap<string, never> = new Map<string, never>();
const NOTHING: Filtered<never> = { all: EMPTY, kept: EMPTY };

/** What is kept of `all`, by a look at what is not the same as before. */
function amend<T extends KubernetesObject>(
  last: Filtered<T>,
  all: ResourceSnapshot<T>,
  accepts: (object: T) => boolean,
): ResourceSnapshot<T> {
  const changed = changedKeys(last.all, all);
  const accepted = new Map<string, T>();
  for (const key of changed) {
    const object = all.get(key);
    if (object && accepts(object)) accepted.set(key, object);
  }
  const isAllKept = last.kept === last.all && [...changed].every((key) => accepted.has(key) || !all.has(key));
  if (isAllKept) return changed.size > 0 ? all : last.kept;
  const concerned = [...changed].filter((key) => accepted.has(key) || last.kept.has(key));
  if (concerned.length === 0) return last.kept;
  const kept = new Map(last.kept);
  for (const key of concerned) {
    const object = accepted.get(key);
    if (object) kept.set(key, object);
    else kept.delete(key);
  }
  return kept;
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
