import { keepEqual, sameItems } from './memo.js';

/**
 * Answers questions about the cluster by table and key. Every computation over objects asks through this interface,
 * which makes what it depends on known: {@link RecordedMemo} keeps a result while every answer it was made from
 * is still the same object.
 */
export interface Lookup<Rows> {
  find<K extends keyof Rows>(table: K, key: string): Rows[K] | undefined;
}

export type Tables<Rows> = { readonly [K in keyof Rows]: ReadonlyMap<string, Rows[K]> };

/** Like `Memo`, but finds out by itself which objects a result was made from. */
export class RecordedMemo<Rows, T> {
  #last = new Map<string, Entry<Rows, T>>();
  #current = new Map<string, Entry<Rows, T>>();

  /** `inputs` are compared too: the object itself, and whatever was not looked up. */
  get(
    key: string,
    inputs: readonly unknown[],
    tables: Tables<Rows>,
    compute: (lookup: Lookup<Rows>) => T,
  ): T {
    const known = this.#current.get(key) ?? this.#last.get(key);
    if (known !== undefined && sameItems(known.inputs, inputs) && stillTrue(known.answers, tables)) {
      this.#current.set(key, known);
      return known.result;
    }
    const { answers, result } = record(tables, compute);
    const entry = { inputs, answers, result: keepEqual(known?.result, result) };
    this.#current.set(key, entry);
    return entry.result;
  }

  endPass(): void {
    this.#last = this.#current;
    this.#current = new Map();
  }
}

interface Answer<Rows> {
  readonly table: keyof Rows;
  readonly key: string;
  readonly value: unknown;
}

interface Entry<Rows, T> {
  readonly inputs: readonly unknown[];
  readonly answers: readonly Answer<Rows>[];
  readonly result: T;
}

function record<Rows, T>(tables: Tables<Rows>, compute: (lookup: Lookup<Rows>) => T) {
  const answers: Answer<Rows>[] = [];
  const result = compute({
    find: (table, key) => {
      const value = tables[table].get(key);
      answers.push({ table, key, value });
      return value;
    },
  });
  return { answers, result };
}

function stillTrue<Rows>(answers: readonly Answer<Rows>[], tables: Tables<Rows>): boolean {
  for (const { table, key, value } of answers) if (tables[table].get(key) !== value) return false;
  return true;
}
