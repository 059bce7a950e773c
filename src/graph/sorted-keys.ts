/**
 * The keys of a map in order. Sorting thousands of keys costs more than everything else that a pass does for
 * unchanged objects, so the order is kept while the map has the same keys.
 */
export class SortedKeys {
  #keys: readonly string[] = [];

  of(map: ReadonlyMap<string, unknown>): readonly string[] {
    if (this.#keys.length !== map.size || !this.#keys.every((key) => map.has(key))) {
      this.#keys = [...map.keys()].sort();
    }
    return this.#keys;
  }
}
