/**
 * Memory of one computation that runs once per object and pass: while its inputs are the same objects (`===`) the
 * result is the same object. Results nobody asked for during a pass are forgotten at its end.
 */
export class Memo<T> {
  #last = new Map<string, Entry<T>>();
  #current = new Map<string, Entry<T>>();

  get(key: string, inputs: readonly unknown[], compute: () => T): T {
    const known = this.#current.get(key) ?? this.#last.get(key);
    const entry =
      known !== undefined && sameItems(known.inputs, inputs)
        ? known
        : { inputs, result: keepEqual(known?.result, compute()) };
    this.#current.set(key, entry);
    return entry.result;
  }

  endPass(): void {
    this.#last = this.#current;
    this.#current = new Map();
  }
}

interface Entry<T> {
  readonly inputs: readonly unknown[];
  readonly result: T;
}

/** Same length and the same objects in the same places. */
export function sameItems(a: readonly unknown[], b: readonly unknown[]): boolean {
  if (a.length !== b.length) return false;
  for (let index = 0; index < a.length; index++) if (a[index] !== b[index]) return false;
  return true;
}

/**
 * The new value with every part that equals the old one replaced by the old part, so that whoever compares by
 * reference sees only what really changed. Looks into plain objects and arrays; everything else is compared by `===`.
 */
export function keepEqual<T>(before: T | undefined, after: T): T {
  return before === undefined ? after : (merge(before, after) as T); // merge returns `before` or a copy of `after`
}

function merge(before: unknown, after: unknown): unknown {
  if (before === after) return before;
  if (Array.isArray(before) && Array.isArray(after)) return mergeLists(before, after);
  return isPlain(before) && isPlain(after) ? mergeObjects(before, after) : after;
}

function mergeLists(before: readonly unknown[], after: readonly unknown[]): readonly unknown[] {
  const merged = after.map((item, index) => merge(before[index], item));
  return sameItems(before, merged) ? before : merged;
}

function mergeObjects(before: PlainObject, after: PlainObject): PlainObject {
  const merged: Record<string, unknown> = {};
  const names = Object.keys(after);
  let same = Object.keys(before).length === names.length;
  for (const name of names) {
    const value = merge(before[name], after[name]);
    merged[name] = value;
    same &&= value === before[name];
  }
  return same ? before : merged;
}

type PlainObject = Readonly<Record<string, unknown>>;

function isPlain(value: unknown): value is PlainObject {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}

/** Keeps the old list when the new one has the same items, so that whoever compares by reference sees no change. */
export class StableLists<V> {
  #last = new Map<string, readonly V[]>();
  #current = new Map<string, readonly V[]>();

  keep(key: string, items: readonly V[]): readonly V[] {
    const known = this.#last.get(key);
    const kept = known !== undefined && sameItems(known, items) ? known : items;
    this.#current.set(key, kept);
    return kept;
  }

  endPass(): void {
    this.#last = this.#current;
    this.#current = new Map();
  }
}

/** Keeps the parts of a value that equal those of the pass before. */
export class StableValues<T> {
  #last = new Map<string, T>();
  #current = new Map<string, T>();

  keep(key: string, value: T): T {
    const kept = keepEqual(this.#last.get(key), value);
    this.#current.set(key, kept);
    return kept;
  }

  endPass(): void {
    this.#last = this.#current;
    this.#current = new Map();
  }
}
