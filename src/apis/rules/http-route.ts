import { parseDuration } from '../../util/duration.js';
import type { HttpPathMatch, HttpRoute, HttpRouteFilter, HttpRouteRule } from '../gateway/index.js';
import { itemPath, type FieldProblem } from '../validation/field-problem.js';
import { httpFilters } from './http-filters.js';
import { isLonger, sessionPersistence } from './routes.js';
import { problemWhen } from './rule.js';

const PATH = /^(?:[-A-Za-z0-9/._~!$&'()*+,;=:@]|%[0-9a-fA-F]{2})+$/;
const FORBIDDEN = ['//', '/./', '/../', '%2f', '%2F', '#'];

/** The rules of the rules of an HTTPRoute, each with the path to it. */
export function* httpRules({ spec }: HttpRoute): Generator<FieldProblem> {
  for (const [index, rule] of spec.rules.entries()) {
    const path = itemPath('spec.rules', index);
    for (const [at, match] of rule.matches.entries())
      yield* absolutePath(match.path, `${itemPath(`${path}.matches`, at)}.path`);
    yield* httpFilters(rule.filters, `${path}.filters`);
    for (const [at, { filters }] of (rule.backendRefs ?? []).entries())
      yield* httpFilters(filters, `${itemPath(`${path}.backendRefs`, at)}.filters`);
    yield* redirectWithoutBackends(rule, path);
    yield* prefixToReplace(rule, path);
    yield* timeoutOrder(rule, `${path}.timeouts`);
    yield* sessionPersistence(rule.sessionPersistence, `${path}.sessionPersistence`);
  }
}

/** Regular expressions are judged by who compiles them. */
export function* absolutePath({ type, value }: HttpPathMatch, path: string): Generator<FieldProblem> {
  if (type === 'RegularExpression') return;
  const at = `${path}.value`;
  yield* problemWhen(!value.startsWith('/'), at, `must start with "/", not ${JSON.stringify(value)}`);
  for (const part of FORBIDDEN)
    yield* problemWhen(value.includes(part), at, `must not contain "${part}" for type ${type}`);
  for (const end of ['/..', '/.'])
    yield* problemWhen(value.endsWith(end), at, `must not end with "${end}" for type ${type}`);
  yield* problemWhen(
    value.startsWith('/') && !value.includes('#') && !PATH.test(value),
    at,
    'must only have characters of a URL path: percent-encode the others',
  );
}

function* redirectWithoutBackends(rule: HttpRouteRule, path: string): Generator<FieldProblem> {
  yield* problemWhen(
    (rule.backendRefs ?? []).length > 0 &&
      (rule.filters ?? []).some(({ requestRedirect }) => requestRedirect),
    `${path}.backendRefs`,
    'must be empty beside a RequestRedirect filter: nothing is sent to a backend',
  );
}

/** A prefix can only be replaced when there is exactly one. */
function* prefixToReplace(rule: HttpRouteRule, path: string): Generator<FieldProblem> {
  const [only, ...more] = rule.matches;
  if (only?.path.type === 'PathPrefix' && more.length === 0) return;
  const lists = [rule.filters, ...(rule.backendRefs ?? []).map(({ filters }) => filters)];
  yield* problemWhen(
    lists.some((filters = []) => filters.some(replacesPrefix)),
    `${path}.matches`,
    'must be exactly one match of type PathPrefix, because a filter replaces the matched prefix',
  );
}

function replacesPrefix({ requestRedirect, urlRewrite }: HttpRouteFilter): boolean {
  return [requestRedirect, urlRewrite].some(
    (filter) => filter?.path?.type === 'ReplacePrefixMatch' && filter.path.replacePrefixMatch !== undefined,
  );
}

/** GEP-1742. A request timeout of 0s is none. */
function* timeoutOrder({ timeouts }: HttpRouteRule, path: string): Generator<FieldProblem> {
  const unlimited = timeouts?.request !== undefined && parseDuration(timeouts.request) === 0;
  yield* problemWhen(
    !unlimited && isLonger(timeouts?.backendRequest, timeouts?.request),
    `${path}.backendRequest`,
    'must not be longer than the request timeout',
  );
}
