/** Groups values by a key, keeping their order. */
export function groupBy<K, V>(values: Iterable<V>, keyOf: (value: V) => K): Map<K, V[]> {
  const groups = new Map<K, V[]>();
  for (const value of values) {
    const key = keyOf(value);
    const group = groups.get(key);
    if (group) group.push(value);
    else groups.set(key, [value]);
  }
  return groups;
}

/** Byte order of two strings: the same on every machine, unlike `localeCompare`. */
export function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Values sorted by a text key, in a new array. */
export function sortedBy<V>(values: Iterable<V>, keyOf: (value: V) => string): V[] {
  return [...values].sort((a, b) => compareText(keyOf(a), keyOf(b)));
}

/** The list for keeping: one that was pushed to, filtered or flattened has room for 17 elements and more. */
export function toExactLength<V>(values: readonly V[]): readonly V[] {
  return values.slice();
}
