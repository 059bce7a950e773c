import type { KubernetesObject } from '../apis/meta.js';
import { compareText } from '../util/collections.js';
import { sameItems } from './memo.js';

/**
 * Objects by something they point to. A list whose members did not change is the same list (`===`), and nothing is
 * done at all while the objects are the same map.
 */
export class ObjectIndex<V extends KubernetesObject> {
  readonly #keysOf: (object: V) => readonly string[];
  #source: ReadonlyMap<string, V> | undefined;
  #groups: ReadonlyMap<string, readonly V[]> = new Map();

  constructor(keysOf: (object: V) => readonly string[]) {
    this.#keysOf = keysOf;
  }

  of(source: ReadonlyMap<string, V>): ReadonlyMap<string, readonly V[]> {
    if (source === this.#source) return this.#groups;
    const groups = new Map<string, V[]>();
    for (const object of source.values()) {
      for (const key of this.#keysOf(object)) {
        const group = groups.get(key);
        if (group) group.push(object);
        else groups.set(key, [object]);
      }
    }
    const kept = new Map<string, readonly V[]>();
    for (const [key, group] of groups) {
      const before = this.#groups.get(key);
      if (group.length > 1) group.sort(byName);
      kept.set(key, before && sameItems(before, group) ? before : group);
    }
    this.#source = source;
    this.#groups = kept;
    return kept;
  }
}

function byName(a: KubernetesObject, b: KubernetesObject): number {
  return (
    compareText(a.metadata.namespace ?? '', b.metadata.namespace ?? '') ||
    compareText(a.metadata.name, b.metadata.name)
  );
}
