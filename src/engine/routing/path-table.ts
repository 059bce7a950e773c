import { groupBy } from '../../util/collections.js';
import type { RequestHead } from '../exchange/heads.js';
import { type Candidate, compareCandidates } from './candidate.js';
import { compilePatternSet, type PatternSet } from './pattern.js';
import { type PrefixSet, PrefixSets } from './prefix-set.js';

/**
 * The matches of one virtual host by path: exact, then regular expressions (longest pattern first), then the
 * longest prefix; within equal paths in the order of {@link compareCandidates}. A path whose candidates all
 * refuse the request yields to the next less specific one, as if every match were sorted in one list.
 */
export class PathTable<R> {
  /** What comes before prefixes; most hosts have none. */
  readonly special: SpecialPaths<R> | undefined;
  readonly prefixes: PrefixSet;
  /** By position in the prefixes. */
  readonly leaves: readonly Leaf<R>[];

  constructor(candidates: readonly Candidate<R>[], sets = new PrefixSets()) {
    const exact: Candidate<R>[] = [];
    const regex: Candidate<R>[] = [];
    const prefix: Candidate<R>[] = [];
    const byType = { exact, regex, prefix };
    for (const candidate of candidates) byType[candidate.source.match.path.type].push(candidate);
    this.special = exact.length + regex.length > 0 ? new SpecialPaths(exact, regex) : undefined;
    const sorted = [...byPath(prefix)].sort(longestFirst);
    this.prefixes = sets.of(sorted.map(([path]) => path));
    this.leaves = sorted.map(([, leaf]) => leaf);
  }

  match(request: RequestHead): Candidate<R> | undefined {
    return this.special?.match(request) ?? matchPrefixes(this.prefixes, this.leaves, 0, request);
  }
}

/** `leaves` are those of many tables: the ones of these prefixes begin at `begin`. */
export function matchPrefixes<R>(
  prefixes: PrefixSet,
  leaves: readonly Leaf<R>[],
  begin: number,
  request: RequestHead,
): Candidate<R> | undefined {
  for (
    let position = prefixes.longest(pathOf(request));
    position >= 0;
    position = prefixes.shorter(position)
  ) {
    const found = firstOf(leaves[begin + position], request);
    if (found) return found;
  }
  return undefined;
}

/** Exact paths and patterns. */
export class SpecialPaths<R> {
  readonly #exact: ReadonlyMap<string, Leaf<R>>;
  readonly #patterns: PatternSet | undefined;
  /** By position in the pattern set. */
  readonly #patternLeaves: readonly Leaf<R>[];

  constructor(exact: readonly Candidate<R>[], regex: readonly Candidate<R>[]) {
    this.#exact = byPath(exact);
    const sorted = [...byPath(regex)].sort(longestFirst);
    this.#patterns = sorted.length > 0 ? compilePatternSet(sorted.map(([source]) => source)) : undefined;
    this.#patternLeaves = sorted.map(([, leaf]) => leaf);
  }

  match(request: RequestHead): Candidate<R> | undefined {
    const path = pathOf(request);
    const exact = this.#exact.size > 0 ? firstOf(this.#exact.get(path), request) : undefined;
    if (exact || !this.#patterns) return exact;
    for (const position of this.#patterns.matching(path)) {
      const found = firstOf(this.#patternLeaves[position], request);
      if (found) return found;
    }
    return undefined;
  }
}

/** The matches of one path, most specific first; the first alone when it asks for nothing but the path. */
export type Leaf<R> = Candidate<R> | readonly Candidate<R>[];

/** Without the query. */
function pathOf({ path, queryStart }: RequestHead): string {
  return queryStart < path.length ? path.slice(0, queryStart) : path;
}

function byPath<R>(candidates: readonly Candidate<R>[]): Map<string, Leaf<R>> {
  const leaves = new Map<string, Leaf<R>>();
  for (const [path, group] of groupBy(candidates, ({ source }) => source.match.path.value)) {
    if (group.length > 1) group.sort(compareCandidates);
    const [first] = group;
    leaves.set(path, first && !first.predicate ? first : group);
  }
  return leaves;
}

function longestFirst([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return b.length - a.length || (a < b ? -1 : 1);
}

function firstOf<R>(leaf: Leaf<R> | undefined, request: RequestHead): Candidate<R> | undefined {
  if (leaf === undefined || !isList(leaf)) return leaf;
  for (const candidate of leaf) if (!candidate.predicate || candidate.predicate(request)) return candidate;
  return undefined;
}

function isList<R>(leaf: Leaf<R>): leaf is readonly Candidate<R>[] {
  return Array.isArray(leaf);
}
