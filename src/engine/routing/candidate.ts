import type { HttpMatch, HttpRoute, HttpRule, ValueMatch } from '../../ir/http.js';
import { compareText } from '../../util/collections.js';
import type { RequestHead } from '../exchange/heads.js';
import type { Fields } from '../exchange/fields.js';
import { isPreflight } from '../filters/cors.js';
import { compilePattern } from './pattern.js';
import { queryParam } from './query-string.js';

/** One match of one rule. `R` is what the engine makes of a rule; with `RuleEntry` this is a `RouteEntry`. */
export interface Candidate<R> {
  readonly rule: R;
  /** Value of the prefix match (`''` for `/`); undefined for exact and regex matches. */
  readonly matchedPrefix: string | undefined;
  /** Everything but the path; undefined when there is nothing else to hold. */
  readonly predicate: Predicate | undefined;
  readonly source: MatchSource;
}

/** Where in the configuration a candidate comes from. */
interface MatchSource {
  readonly route: HttpRoute;
  readonly rule: HttpRule;
  readonly match: HttpMatch;
  /** Position in `rule.matches`. */
  readonly matchIndex: number;
}

type Predicate = (request: RequestHead) => boolean;

export function toCandidate<R>(rule: R, source: MatchSource): Candidate<R> {
  const { path } = source.match;
  const matchedPrefix = path.type === 'prefix' ? path.value : undefined;
  return { rule, matchedPrefix, predicate: compilePredicate(source), source };
}

function compilePredicate({ rule, match }: MatchSource): Predicate | undefined {
  const { method, headers, queryParams } = match;
  const predicates: Predicate[] = [];
  if (method !== undefined) predicates.push(methodPredicate(method, rule));
  for (const header of headers) predicates.push(headerPredicate(header));
  for (const param of queryParams) predicates.push(queryPredicate(param));
  const [first, ...others] = predicates;
  return first && others.length > 0 ? (request) => predicates.every((holds) => holds(request)) : first;
}

/** A preflight belongs to the rule of the request that it asks about, when that rule can answer it (F-08). */
function methodPredicate(method: string, { filters }: HttpRule): Predicate {
  if (!filters.some(({ type }) => type === 'cors')) return (request) => request.method === method;
  return (request) =>
    request.method === method ||
    (isPreflight(request) && request.fields.get('access-control-request-method') === method);
}

function headerPredicate(match: ValueMatch): Predicate {
  const { name, type, value } = match;
  const holds = compileValue(match);
  if (name === 'host') return ({ authority }) => holds(authority);
  // One line is compared where it lies, without a text for it.
  if (type === 'exact' && !value.includes(',')) return ({ fields }) => fields.isExactly(name, value);
  return ({ fields }) => {
    const actual = combinedValue(fields, name);
    return actual !== undefined && holds(actual);
  };
}

/** Repeated lines are one value, joined with a comma (RFC 9110 §5.3). */
function combinedValue(fields: Fields, name: string): string | undefined {
  const all = fields.getAll(name);
  return all.length > 1 ? all.join(',') : all[0];
}

function queryPredicate(match: ValueMatch): Predicate {
  const holds = compileValue(match);
  const { name } = match;
  return ({ path, queryStart }) => {
    const value = queryParam(path, name, queryStart + 1);
    return value !== undefined && holds(value);
  };
}

function compileValue({ type, value }: ValueMatch): (actual: string) => boolean {
  if (type === 'exact') return (actual) => actual === value;
  const pattern = compilePattern(value);
  return (actual) => pattern.test(actual);
}

/**
 * Order among matches of equal hosts and paths (HTTPRouteRule.Matches): method, most headers, most query
 * parameters, oldest route, namespace/name, first rule, first match.
 */
export function compareCandidates<R>(left: Candidate<R>, right: Candidate<R>): number {
  const a = left.source;
  const b = right.source;
  return (
    Number(b.match.method !== undefined) - Number(a.match.method !== undefined) ||
    b.match.headers.length - a.match.headers.length ||
    b.match.queryParams.length - a.match.queryParams.length ||
    compareRoutes(a.route, b.route) ||
    a.rule.index - b.rule.index ||
    a.matchIndex - b.matchIndex
  );
}

function compareRoutes(a: HttpRoute, b: HttpRoute): number {
  if (a === b) return 0;
  return (
    a.createdAt - b.createdAt ||
    compareText(`${a.namespace}/${a.name}`, `${b.namespace}/${b.name}`) ||
    compareText(a.key, b.key)
  );
}
