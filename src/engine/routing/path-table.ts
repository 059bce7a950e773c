import { groupBy } from '../../util/collections.js';
import type { RequestHead } from '../exchange/heads.js';
import { type Candidate, compareCandidates, type RouteTarget } from './candidate.js';
import { compilePatternSet, type PatternSet } from './pattern.js';
import { PrefixTable } from './prefix-table.js';

/**
 * The matches of one virtual host by path: exact, then regular expressions (longest pattern first), then the
 * longest prefix; within equal paths in the order of {@link compareCandidates}. A path whose candidates all
 * refuse the request yields to the next less specific one, as if every match were sorted in one list.
 */
export class PathTable<R> {
  readonly #exact: ReadonlyMap<string, Leaf<R>> | undefined;
  readonly #patterns: PatternSet | undefined;
  /** Parallel to the pattern set. */
  readonly #patternCandidates: readonly Leaf<R>[];
  readonly #prefixes: PrefixTable<Leaf<R>>;

  constructor(candidates: readonly Candidate<R>[]) {
    const exact: Candidate<R>[] = [];
    const patterns: Candidate<R>[] = [];
    const prefixes: Candidate<R>[] = [];
    const byType = { exact, regex: patterns, prefix: prefixes };
    for (const candidate of candidates) byType[candidate.target.source.match.path.type].push(candidate);
    this.#exact = exact.length > 0 ? byPath(exact) : undefined;
    this.#prefixes = new PrefixTable(byPath(prefixes));
    const sorted = [...byPath(patterns)].sort(([a], [b]) => b.length - a.length || (a < b ? -1 : 1));
    this.#patterns = sorted.length > 0 ? compilePatternSet(sorted.map(([source]) => source)) : undefined;
    this.#patternCandidates = sorted.map(([, group]) => group);
  }

  match(request: RequestHead): RouteTarget<R> | undefined {
    const { queryStart } = request;
    const path = queryStart < request.path.length ? request.path.slice(0, queryStart) : request.path;
    return (
      firstOf(this.#exact?.get(path), request) ??
      (this.#patterns ? this.#matchPatterns(this.#patterns.matching(path), request) : undefined) ??
      this.#matchPrefixes(path, request)
    );
  }

  #matchPatterns(patterns: readonly number[], request: RequestHead): RouteTarget<R> | undefined {
    for (const index of patterns) {
      const target = firstOf(this.#patternCandidates[index], request);
      if (target) return target;
    }
    return undefined;
  }

  #matchPrefixes(path: string, request: RequestHead): RouteTarget<R> | undefined {
    for (let found = this.#prefixes.longest(path); found; found = found.shorter) {
      const target = firstOf(found.value, request);
      if (target) return target;
    }
    return undefined;
  }
}

/** The matches of one path, most specific first. */
interface Leaf<R> {
  /** The first, when it asks for nothing but the path: the usual case, found without touching the list. */
  readonly certain: RouteTarget<R> | undefined;
  readonly candidates: readonly Candidate<R>[];
}

function byPath<R>(candidates: readonly Candidate<R>[]): Map<string, Leaf<R>> {
  const leaves = new Map<string, Leaf<R>>();
  for (const [path, group] of groupBy(candidates, pathOf)) {
    if (group.length > 1) group.sort(compareCandidates);
    const [first] = group;
    leaves.set(path, { certain: first?.predicate ? undefined : first?.target, candidates: group });
  }
  return leaves;
}

function pathOf<R>(candidate: Candidate<R>): string {
  return candidate.target.source.match.path.value;
}

function firstOf<R>(leaf: Leaf<R> | undefined, request: RequestHead): RouteTarget<R> | undefined {
  if (!leaf || leaf.certain) return leaf?.certain;
  for (const { predicate, target } of leaf.candidates) if (!predicate || predicate(request)) return target;
  return undefined;
}
