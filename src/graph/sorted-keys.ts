import { changedKeys } from '../util/differences.js';

/**
 * The keys of a map in order. Sorting thousands of keys costs more than everything else that a pass does for
 * unchanged objects, so the order is kept while the map has the same keys.
 */
export class SortedKeys {
  #map: ReadonlyMap<string, unknown> = new Map();
  #keys: readonly string[] = [];

  of(map: ReadonlyMap<string, unknown>): readonly string[] {
    const before = this.#map;
    this.#map = map;
    const changed = [...changedKeys(before, map)];
    if (changed.some((key) => before.has(key) !== map.has(key))) this.#keys = [...map.keys()].sort();
    return this.#keys;
  }
}
