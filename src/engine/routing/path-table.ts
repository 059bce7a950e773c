import { groupBy } from '../../util/collections.js';
import { type Candidate, compareCandidates, type RoutableRequest, type RouteTarget } from './candidate.js';
import { compilePatternSet, type PatternSet } from './pattern.js';
import { PrefixTrie } from './prefix-trie.js';

/**
 * The matches of one virtual host by path: exact, then regular expressions (longest pattern first), then the
 * longest prefix; within equal paths in the order of {@link compareCandidates}. A path whose candidates all
 * refuse the request yields to the next less specific one, as if every match were sorted in one list.
 */
export class PathTable<R> {
  readonly #exact = new Map<string, readonly Candidate<R>[]>();
  readonly #patterns: PatternSet | undefined;
  /** Parallel to the pattern set. */
  readonly #patternCandidates: readonly (readonly Candidate<R>[])[];
  readonly #prefixes: PrefixTrie<readonly Candidate<R>[]>;

  constructor(candidates: readonly Candidate<R>[]) {
    const exact: Candidate<R>[] = [];
    const patterns: Candidate<R>[] = [];
    const prefixes: Candidate<R>[] = [];
    const byType = { exact, regex: patterns, prefix: prefixes };
    for (const candidate of candidates) byType[candidate.target.match.path.type].push(candidate);
    for (const [path, group] of byPath(exact)) this.#exact.set(path, group);
    this.#prefixes = new PrefixTrie(byPath(prefixes));
    const sorted = [...byPath(patterns)].sort(([a], [b]) => b.length - a.length || (a < b ? -1 : 1));
    this.#patterns = sorted.length > 0 ? compilePatternSet(sorted.map(([source]) => source)) : undefined;
    this.#patternCandidates = sorted.map(([, group]) => group);
  }

  match(request: RoutableRequest): RouteTarget<R> | undefined {
    const { path } = request;
    return (
      firstOf(this.#exact.get(path), request) ??
      (this.#patterns ? this.#matchPatterns(this.#patterns, request) : undefined) ??
      this.#matchPrefixes(request)
    );
  }

  #matchPatterns(patterns: PatternSet, request: RoutableRequest): RouteTarget<R> | undefined {
    for (const index of patterns.matching(request.path)) {
      const target = firstOf(this.#patternCandidates[index], request);
      if (target) return target;
    }
    return undefined;
  }

  #matchPrefixes(request: RoutableRequest): RouteTarget<R> | undefined {
    for (let found = this.#prefixes.longest(request.path); found; found = found.shorter) {
      const target = firstOf(found.value, request);
      if (target) return target;
    }
    return undefined;
  }
}

function byPath<R>(candidates: readonly Candidate<R>[]): Map<string, Candidate<R>[]> {
  const groups = groupBy(candidates, (candidate) => candidate.target.match.path.value);
  for (const group of groups.values()) if (group.length > 1) group.sort(compareCandidates);
  return groups;
}

function firstOf<R>(
  candidates: readonly Candidate<R>[] | undefined,
  request: RoutableRequest,
): RouteTarget<R> | undefined {
  if (!candidates) return undefined;
  for (const { predicate, target } of candidates) if (!predicate || predicate(request)) return target;
  return undefined;
}
