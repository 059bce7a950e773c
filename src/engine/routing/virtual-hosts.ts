import type { RequestHead } from '../exchange/heads.js';
import type { Candidate } from './candidate.js';
import { HostTable } from './host-table.js';
import { type Leaf, matchPrefixes, type SpecialPaths } from './path-table.js';
import type { PrefixSet } from './prefix-set.js';
import type { VirtualHostTable } from './routing-tables.js';

/**
 * The virtual hosts of a server. With tens of thousands of them every object that a request visits is one that the
 * processor has to fetch from memory, so the way from a hostname to a rule leads through a few dense arrays.
 * Immutable once built.
 */
export class VirtualHosts<R> {
  readonly #rows: HostTable<number>;
  /** By row, like the two after it. */
  readonly #tables: readonly VirtualHostTable<R>[];
  readonly #prefixes: readonly PrefixSet[];
  /** Where the leaves of its prefixes begin. */
  readonly #begins: readonly number[];
  readonly #leaves: readonly Leaf<R>[];
  /** By row; most have none. */
  readonly #special: ReadonlyMap<number, SpecialPaths<R>>;

  constructor(tables: readonly VirtualHostTable<R>[], layout = layOut(tables)) {
    this.#rows = layout.rows;
    this.#tables = tables;
    this.#prefixes = tables.map(({ paths }) => paths.prefixes);
    this.#begins = layout.begins;
    this.#leaves = layout.leaves;
    this.#special = new Map(
      tables.flatMap(({ paths: { special } }, row) => (special ? [[row, special] as const] : [])),
    );
  }

  /** The same hosts, some of them with another table; undefined when one of these is not here. */
  with(changed: readonly VirtualHostTable<R>[]): VirtualHosts<R> | undefined {
    const tables = [...this.#tables];
    const leaves = [...this.#leaves];
    let isInPlace = true;
    for (const table of changed) {
      const row = this.#rows.get(table.virtualHost.hostname);
      const before = row === undefined ? undefined : tables[row];
      if (row === undefined || before?.virtualHost.key !== table.virtualHost.key) return undefined;
      tables[row] = table;
      const { length } = table.paths.leaves;
      isInPlace &&= length === before.paths.leaves.length;
      if (isInPlace) leaves.splice(this.#begins[row] ?? 0, length, ...table.paths.leaves);
    }
    const layout = { rows: this.#rows, begins: this.#begins, leaves };
    return new VirtualHosts(tables, isInPlace ? layout : { ...layOutLeaves(tables), rows: this.#rows });
  }

  find(hostname: string): VirtualHostTable<R> | undefined {
    const row = this.#rows.find(hostname);
    return row === undefined ? undefined : this.#tables[row];
  }

  /** What the paths of the host that is found answer. */
  match(request: RequestHead): Candidate<R> | undefined {
    const row = this.#rows.find(request.hostname);
    const prefixes = row === undefined ? undefined : this.#prefixes[row];
    if (row === undefined || !prefixes) return undefined;
    const special = this.#special.size > 0 ? this.#special.get(row)?.match(request) : undefined;
    return special ?? matchPrefixes(prefixes, this.#leaves, this.#begins[row] ?? 0, request);
  }
}

/** Where things are; most changes leave it as it is. */
interface Layout<R> {
  readonly rows: HostTable<number>;
  readonly begins: readonly number[];
  readonly leaves: readonly Leaf<R>[];
}

function layOut<R>(tables: readonly VirtualHostTable<R>[]): Layout<R> {
  const rows = new HostTable(tables.map(({ virtualHost }, row) => [virtualHost.hostname, row] as const));
  return { rows, ...layOutLeaves(tables) };
}

function layOutLeaves<R>(tables: readonly VirtualHostTable<R>[]): Omit<Layout<R>, 'rows'> {
  let begin = 0;
  return {
    begins: tables.map(({ paths }) => (begin += paths.leaves.length) - paths.leaves.length),
    leaves: tables.flatMap(({ paths }) => paths.leaves),
  };
}
