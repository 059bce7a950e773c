/*
 * What differs between two versions of a collection of thousands, of which mostly one element changed. By identity:
 * an element that is the same object (`===`) is not looked into.
 */

export interface ListDifference<V> {
  readonly removed: readonly V[];
  readonly added: readonly V[];
}

/** What is in one list only. No list may hold an element twice; an element that only moved does not count. */
export function listDifference<V>(before: readonly V[], after: readonly V[]): ListDifference<V> {
  const shorter = Math.min(before.length, after.length);
  let start = 0;
  while (start < shorter && before[start] === after[start]) start++;
  let tail = 0;
  while (tail < shorter - start && before[before.length - 1 - tail] === after[after.length - 1 - tail])
    tail++;
  const removed = before.slice(start, before.length - tail);
  const added = after.slice(start, after.length - tail);
  if (removed.length === 0 || added.length === 0) return { removed, added };
  const [held, wanted] = [new Set(removed), new Set(added)];
  return {
    removed: removed.filter((element) => !wanted.has(element)),
    added: added.filter((element) => !held.has(element)),
  };
}

/**
 * Keys whose value is not the same, or that are in one map only. Maps that were made from each other have their keys
 * in the same order: then arrays are walked, and only what differs is looked up.
 */
export function changedKeys<V>(
  before: ReadonlyMap<string, V>,
  after: ReadonlyMap<string, V>,
): ReadonlySet<string> {
  const changed = new Set<string>();
  if (before === after) return changed;
  const keys = [...before.keys()];
  const values = [...before.values()];
  let place = 0;
  const compare = (key: string, value: V): void => {
    // What is gone stands in the way.
    for (; place < keys.length && keys[place] !== key && !after.has(keys[place] ?? ''); place++) {
      changed.add(keys[place] ?? '');
    }
    const isInPlace = keys[place] === key;
    const isSame = isInPlace ? values[place] === value : before.has(key) && before.get(key) === value;
    if (!isSame) changed.add(key);
    if (isInPlace) place++;
  };
  after.forEach((value, key) => {
    compare(key, value);
  });
  for (const key of keys.slice(place)) if (!after.has(key)) changed.add(key);
  return changed;
}
