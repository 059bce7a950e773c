import { compareText } from '../../util/collections.js';
import type { HttpMatch, HttpRoute, HttpRule, ValueMatch } from '../../ir/http.js';
import { compilePattern } from './pattern.js';
import { queryParam } from './query-string.js';

/** What a request has to offer to be routed. The codecs' request heads have this shape. */
export interface RoutableRequest {
  readonly method: string;
  /** Host field or `:authority`, as it was sent. */
  readonly authority: string;
  /** In the form of `normalizePath`. */
  readonly path: string;
  /** What follows the `?`; `''` when there is none. */
  readonly query: string;
  /** Name in lower case. Repeated lines are joined with a comma (RFC 9110 §5.3). */
  header(name: string): string | undefined;
}

/** What a request is for. `R` is what the engine makes of a rule: filters, balancer, policy. */
export interface RouteTarget<R> {
  readonly route: HttpRoute;
  readonly rule: HttpRule;
  readonly match: HttpMatch;
  /** Position in `rule.matches`. */
  readonly matchIndex: number;
  readonly compiled: R;
}

/** One match of one rule. */
export interface Candidate<R> {
  readonly target: RouteTarget<R>;
  /** Everything but the path; absent when there is nothing else to hold. */
  readonly predicate?: (request: RoutableRequest) => boolean;
}

export function toCandidate<R>(target: RouteTarget<R>): Candidate<R> {
  const predicate = compilePredicate(target.match);
  return predicate ? { target, predicate } : { target };
}

function compilePredicate(match: HttpMatch): ((request: RoutableRequest) => boolean) | undefined {
  const { method } = match;
  const headers = match.headers.map(compileValue);
  const queryParams = match.queryParams.map(compileValue);
  if (method === undefined && headers.length === 0 && queryParams.length === 0) return undefined;
  return (request) =>
    (method === undefined || request.method === method) &&
    headers.every(({ name, holds }) => holds(request.header(name))) &&
    queryParams.every(({ name, holds }) => holds(queryParam(request.query, name)));
}

interface ValuePredicate {
  readonly name: string;
  /** An absent value never holds. */
  readonly holds: (value: string | undefined) => boolean;
}

function compileValue({ name, type, value }: ValueMatch): ValuePredicate {
  if (type === 'exact') return { name, holds: (actual) => actual === value };
  const pattern = compilePattern(value);
  return { name, holds: (actual) => actual !== undefined && pattern.test(actual) };
}

/**
 * Order among matches of equal hosts and paths (HTTPRouteRule.Matches): method, most headers, most query
 * parameters, oldest route, namespace/name, first rule, first match.
 */
export function compareCandidates<R>({ target: a }: Candidate<R>, { target: b }: Candidate<R>): number {
  return (
    Number(b.match.method !== undefined) - Number(a.match.method !== undefined) ||
    b.match.headers.length - a.match.headers.length ||
    b.match.queryParams.length - a.match.queryParams.length ||
    a.route.createdAt - b.route.createdAt ||
    compareText(`${a.route.namespace}/${a.route.name}`, `${b.route.namespace}/${b.route.name}`) ||
    compareText(a.route.key, b.route.key) ||
    a.rule.index - b.rule.index ||
    a.matchIndex - b.matchIndex
  );
}
