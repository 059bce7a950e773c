/**
 * What one computation gave for each key. While an entry is asked for in every pass it is kept; what nobody asked
 * for during a pass is forgotten at its end. A pass mostly asks for the same keys in the same order as the one
 * before, so each entry knows which followed it: of thousands of entries hardly any has to be looked up.
 */
export class PassCache<E extends object> {
  readonly #entries = new Map<string, Stamped<E>>();
  #pass = 1;
  #used = 0;
  #first: Stamped<E> | undefined;
  /** Asked for last in this pass. */
  #last: Stamped<E> | undefined;

  /** The entry of the pass before (or of this one), which counts as asked for. */
  find(key: string): E | undefined {
    const expected = this.#last ? this.#last.next : this.#first;
    const isExpected = expected?.key === key && expected.pass !== FORGOTTEN;
    const stamped = isExpected ? expected : this.#entries.get(key);
    if (!stamped) return undefined;
    this.#touch(stamped);
    return stamped.entry;
  }

  set(key: string, entry: E): void {
    const stamped = this.#last?.key === key ? this.#last : this.#entries.get(key);
    if (stamped) {
      stamped.entry = entry;
      this.#touch(stamped);
      return;
    }
    const added = { key, entry, pass: NEVER };
    this.#entries.set(key, added);
    this.#touch(added);
  }

  endPass(): void {
    if (this.#used < this.#entries.size) {
      for (const [key, stamped] of this.#entries) {
        if (stamped.pass === this.#pass) continue;
        stamped.pass = FORGOTTEN;
        this.#entries.delete(key);
      }
    }
    this.#pass++;
    this.#used = 0;
    this.#last = undefined;
  }

  #touch(stamped: Stamped<E>): void {
    if (stamped === this.#last) return;
    if (this.#last) this.#last.next = stamped;
    else this.#first = stamped;
    this.#last = stamped;
    if (stamped.pass === this.#pass) return;
    stamped.pass = this.#pass;
    this.#used++;
  }
}

const NEVER = 0;
const FORGOTTEN = -1;

interface Stamped<E> {
  readonly key: string;
  entry: E;
  /** When it was asked for last. */
  pass: number;
  /** What was asked for after it. */
  next?: Stamped<E>;
}

/**
 * Memory of one computation that runs once per object and pass: while its inputs are the same objects (`===`) the
 * result is the same object, and where it has to be made again its unchanged parts are.
 */
export class Memo<T> {
  readonly #cache = new PassCache<Entry<T>>();

  get(key: string, inputs: readonly unknown[], compute: () => T): T {
    const known = this.#cache.find(key);
    if (known && sameItems(known.inputs, inputs)) return known.result;
    const result = keepEqual(known?.result, compute());
    this.#cache.set(key, { inputs, result });
    return result;
  }

  endPass(): void {
    this.#cache.endPass();
  }
}

interface Entry<T> {
  readonly inputs: readonly unknown[];
  readonly result: T;
}

/** Keeps the parts of a value that equal those of the pass before. */
export class StableValues<T extends object> {
  readonly #cache = new PassCache<T>();

  keep(key: string, value: T): T {
    const kept = keepEqual(this.#cache.find(key), value);
    this.#cache.set(key, kept);
    return kept;
  }

  endPass(): void {
    this.#cache.endPass();
  }
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
  // Parts that are in both lists stay as they are wherever they moved, and nothing else takes anything from them.
  const [held, wanted] = [new Set(before), new Set(after)];
  const merged = after.map((item, index) => {
    const old = before[index];
    return held.has(item) || wanted.has(old) ? item : merge(old, item);
  });
  return sameItems(before, merged) ? before : merged;
}

function mergeObjects(before: PlainObject, after: PlainObject): PlainObject {
  // A copy has every name of its own: assigning `__proto__` to an empty object would change what it inherits from.
  const merged: Record<string, unknown> = { ...after };
  const names = Object.keys(after);
  let same = Object.keys(before).length === names.length;
  for (const name of names) {
    const isKnown = Object.hasOwn(before, name);
    const value = isKnown ? merge(before[name], after[name]) : after[name];
    merged[name] = value;
    same &&= isKnown && value === before[name];
  }
  return same ? before : merged;
}

type PlainObject = Readonly<Record<string, unknown>>;

function isPlain(value: unknown): value is PlainObject {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}
