import { keepEqual, PassCache, sameItems } from './memo.js';

/**
 * Answers questions about the cluster by table and key. Every computation over objects asks through this interface,
 * which makes what it depends on known: {@link renew} keeps a result while every answer it was made from
 * is still the same object.
 */
export interface Lookup<Rows> {
  find<K extends keyof Rows>(table: K, key: string): Rows[K] | undefined;
}

export type Tables<Rows> = { readonly [K in keyof Rows]: ReadonlyMap<string, Rows[K]> };

/** A result with everything it was made from. */
export interface Recorded<Rows, T> {
  /** The object itself, and whatever was not looked up. */
  readonly inputs: readonly unknown[];
  readonly answers: readonly Answer<Rows>[];
  readonly result: T;
}

interface Answer<Rows> {
  readonly table: keyof Rows;
  readonly key: string;
  readonly value: unknown;
}

/** What was known (the same object) while it still holds, else the new result with its unchanged parts kept. */
export function renew<Rows, T>(
  known: Recorded<Rows, T> | undefined,
  inputs: readonly unknown[],
  tables: Tables<Rows>,
  compute: (lookup: Lookup<Rows>) => T,
): Recorded<Rows, T> {
  if (known && sameItems(known.inputs, inputs) && stillTrue(known.answers, tables)) return known;
  // The rules of a route mostly ask the same: each question is kept once.
  const answers = new Map<string, Answer<Rows>>();
  const result = compute({
    find: (table, key) => {
      const value = tables[table].get(key);
      answers.set(`${String(table)}/${key}`, { table, key, value });
      return value;
    },
  });
  return { inputs, answers: [...answers.values()], result: keepEqual(known?.result, result) };
}

function stillTrue<Rows>(answers: readonly Answer<Rows>[], tables: Tables<Rows>): boolean {
  for (const { table, key, value } of answers) if (tables[table].get(key) !== value) return false;
  return true;
}

/** Like `Memo`, but finds out by itself which objects a result was made from. */
export class RecordedMemo<Rows, T> {
  readonly #cache = new PassCache<Recorded<Rows, T>>();

  get(
    key: string,
    inputs: readonly unknown[],
    tables: Tables<Rows>,
    compute: (lookup: Lookup<Rows>) => T,
  ): T {
    const known = this.#cache.find(key);
    const current = renew(known, inputs, tables, compute);
    if (current !== known) this.#cache.set(key, current);
    return current.result;
  }

  endPass(): void {
    this.#cache.endPass();
  }
}
