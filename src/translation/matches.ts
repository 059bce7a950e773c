import type { GrpcMethodMatch, GrpcRouteMatch } from '../apis/gateway/grpc-route.js';
import type { HttpPathMatch, HttpRouteMatch } from '../apis/gateway/http-route.js';
import { isUnsupported } from '../apis/unsupported-value.js';
import type { HttpMatch, PathMatch, ValueMatch } from '../ir/http.js';

const EVERYTHING: PathMatch = { type: 'prefix', value: '' };

/** One for all: tens of thousands of matches ask for nothing but a path. */
const NO_VALUES: readonly ValueMatch[] = [];

export function toHttpMatches(matches: readonly HttpRouteMatch[]): readonly HttpMatch[] {
  if (matches.length === 0) return [{ path: EVERYTHING, headers: NO_VALUES, queryParams: NO_VALUES }];
  return matches.map(({ path, method, headers = [], queryParams = [] }) => ({
    path: toPath(path),
    ...(method !== undefined && !isUnsupported(method) && { method }),
    headers: toValues(headers, (name) => name.toLowerCase()),
    queryParams: toValues(queryParams, (name) => name),
  }));
}

/** A gRPC method is the path `/service/method` of an HTTP/2 request. */
export function toGrpcMatches(matches: readonly GrpcRouteMatch[]): readonly HttpMatch[] {
  if (matches.length === 0) return [{ path: EVERYTHING, headers: NO_VALUES, queryParams: NO_VALUES }];
  return matches.map(({ method, headers = [] }) => ({
    path: method ? toGrpcPath(method) : EVERYTHING,
    headers: toValues(headers, (name) => name.toLowerCase()),
    queryParams: NO_VALUES,
  }));
}

function toPath({ type, value }: HttpPathMatch): PathMatch {
  switch (type) {
    case 'Exact':
      return { type: 'exact', value };
    case 'RegularExpression':
      return { type: 'regex', value };
    case 'PathPrefix':
      // "A trailing slash is ignored": whole elements are compared (HTTPPathMatch, PathMatchPathPrefix).
      return { type: 'prefix', value: value.replace(/\/+$/, '') };
    default:
      // Its rule answers 500, and what it was meant to catch is not known: see {@link withoutBadRegex}.
      return EVERYTHING;
  }
}

function toGrpcPath({ type, service, method }: GrpcMethodMatch): PathMatch {
  if ((service === undefined && method === undefined) || isUnsupported(type)) return EVERYTHING;
  if (type === 'RegularExpression') {
    return { type: 'regex', value: `/${group(service)}/${group(method)}` };
  }
  if (service === undefined) return { type: 'regex', value: `/[^/]+/${quote(method ?? '')}` };
  return method === undefined
    ? { type: 'prefix', value: `/${service}` }
    : { type: 'exact', value: `/${service}/${method}` };
}

function group(pattern: string | undefined): string {
  return pattern === undefined ? '[^/]+' : `(?:${pattern})`;
}

function quote(literal: string): string {
  return literal.replace(/[\\^$.|?*+()[\]{}]/g, '\\$&');
}

/** "Multiple matches of one name: only the first counts" (HTTPHeaderMatch.Name, HTTPQueryParamMatch.Name). */
function toValues(
  matches: readonly { readonly type: string; readonly name: string; readonly value: string }[],
  normalize: (name: string) => string,
): readonly ValueMatch[] {
  if (matches.length === 0) return NO_VALUES;
  const byName = new Map<string, ValueMatch>();
  for (const { type, name, value } of matches) {
    const key = normalize(name);
    if (byName.has(key) || isUnsupported(type)) continue;
    byName.set(key, { name: key, type: type === 'RegularExpression' ? 'regex' : 'exact', value });
  }
  return [...byName.values()];
}

/**
 * The match that stands for one that cannot be compiled, so that what it was meant to catch answers 500 and does not
 * fall through to a broader rule. It may catch more than was meant, never less.
 */
export function withoutBadRegex(match: HttpMatch, isBad: (pattern: string) => boolean): HttpMatch {
  const isGood = ({ type, value }: ValueMatch): boolean => type !== 'regex' || !isBad(value);
  const { path } = match;
  return {
    ...match,
    path:
      path.type === 'regex' && isBad(path.value)
        ? { type: 'prefix', value: literalPrefix(path.value) }
        : path,
    headers: match.headers.filter(isGood),
    queryParams: match.queryParams.filter(isGood),
  };
}

/** The whole path elements that every path the pattern could mean starts with. */
function literalPrefix(pattern: string): string {
  if (pattern.includes('|')) return '';
  const [literal = ''] = /^\^?([^\\^$.|?*+()[\]{}]*)/.exec(pattern)?.slice(1) ?? [];
  return literal.startsWith('/') ? literal.slice(0, literal.lastIndexOf('/')) : '';
}
