import type { Fields } from '../exchange/fields.js';
import { type Directives, fieldNamesOf, parseDirectives, parseSeconds, secondsOf } from './directives.js';
import { parseHttpDate } from './http-date.js';

/** What a cache may do with a response, decided once when it arrives. Durations in ms. */
export interface StoringTerms {
  /** How long it is fresh, counted from its creation at the origin. */
  readonly lifetimeMs: number;
  /** Bare `no-cache`: not even fresh without validation. */
  readonly alwaysValidate: boolean;
  /** Not used once it is stale, whatever the client says or the origin fails at. */
  readonly mustRevalidate: boolean;
  /** RFC 5861. */
  readonly staleWhileRevalidateMs: number;
  readonly staleIfErrorMs: number;
  /** Its lifetime comes from the negative cache. */
  readonly negative: boolean;
  /** Fields that must not be stored, in lower case (`private="x"`, `no-cache="x"`). */
  readonly withheld: readonly string[];
}

export interface StoringRules {
  /** Status → lifetime in ms, for answers that say nothing themselves or otherwise. */
  readonly negativeTtls: ReadonlyMap<number, number>;
  /** Share of the age of Last-Modified that a response without a lifetime is taken to be fresh for; 0 is off. */
  readonly heuristicFraction: number;
}

interface ArrivedResponse {
  readonly status: number;
  readonly fields: Fields;
  readonly receivedAtMs: number;
}

/** Why not, in a word for `Cache-Status`; the terms otherwise. */
export type Storability = StoringTerms | { readonly refusal: string };

/** Codes whose meaning for caches we know, so that `must-understand` may lift `no-store` (RFC 9111 §5.2.2.3). */
const UNDERSTOOD: ReadonlySet<number> = new Set([
  200, 203, 204, 300, 301, 302, 303, 307, 308, 404, 405, 410, 414, 421, 451, 501,
]);

/** RFC 9111 §3, for a shared cache and a request whose method is GET. `authorized`: it has Authorization. */
export function assess(response: ArrivedResponse, authorized: boolean, rules: StoringRules): Storability {
  const { status, fields } = response;
  const directives = parseDirectives(fields.getAll('cache-control'));
  const refusal = refusalOf(status, fields, directives) ?? authorizationRefusal(directives, authorized);
  if (refusal !== undefined) return { refusal };
  const negativeTtl = rules.negativeTtls.get(status);
  const lifetimeMs = negativeTtl ?? lifetimeOf(response, directives, rules.heuristicFraction);
  // Nothing to be fresh by and nothing to validate with: it could never be used.
  if (!((lifetimeMs ?? 0) > 0) && !hasValidator(fields)) return { refusal: 'no-lifetime' };
  return {
    lifetimeMs: lifetimeMs ?? 0,
    alwaysValidate: isBare(directives, 'no-cache'),
    negative: negativeTtl !== undefined,
    withheld: withheldBy(directives),
    ...staleTerms(directives),
  };
}

function staleTerms(
  directives: Directives,
): Pick<StoringTerms, 'mustRevalidate' | 'staleWhileRevalidateMs' | 'staleIfErrorMs'> {
  if (directives.has('must-revalidate') || directives.has('proxy-revalidate')) {
    return { mustRevalidate: true, staleWhileRevalidateMs: 0, staleIfErrorMs: 0 };
  }
  const whileRevalidate = secondsOf(directives, 'stale-while-revalidate');
  const ifError = secondsOf(directives, 'stale-if-error');
  return {
    // §5.2.2.10: `s-maxage` forbids stale answers as `proxy-revalidate` does, but an origin that adds the
    // directives of RFC 5861 to it has said what it wants.
    mustRevalidate: directives.has('s-maxage') && whileRevalidate === undefined && ifError === undefined,
    staleWhileRevalidateMs: whileRevalidate ?? 0,
    staleIfErrorMs: ifError ?? 0,
  };
}

function refusalOf(status: number, fields: Fields, directives: Directives): string | undefined {
  // Partial content is not combined, and a 304 is no response of its own.
  if (status < 200 || status === 206 || status === 304) return 'status';
  if (directives.has('must-understand')) {
    if (!UNDERSTOOD.has(status)) return 'must-understand';
  } else if (directives.has('no-store')) {
    return 'no-store';
  }
  if (isBare(directives, 'private')) return 'private';
  // A cookie is for one client; the origin may say that the rest is for all (§7.3 leaves it to the cache).
  if (fields.has('set-cookie') && !withheldBy(directives).includes('set-cookie')) return 'set-cookie';
  return fields.getAll('vary').some((line) => line.includes('*')) ? 'vary' : undefined;
}

function isBare(directives: Directives, name: string): boolean {
  return directives.has(name) && fieldNamesOf(directives, name).length === 0;
}

/** RFC 9111 §3.5. */
function authorizationRefusal(directives: Directives, authorized: boolean): string | undefined {
  const shared = directives.has('public') || directives.has('s-maxage') || directives.has('must-revalidate');
  return authorized && !shared ? 'authorization' : undefined;
}

function withheldBy(directives: Directives): readonly string[] {
  return [...fieldNamesOf(directives, 'no-cache'), ...fieldNamesOf(directives, 'private')];
}

function hasValidator(fields: Fields): boolean {
  return fields.has('etag') || fields.has('last-modified');
}

/** RFC 9111 §4.2.1: `s-maxage`, then `max-age`, then Expires, then (if asked for) a guess. */
function lifetimeOf(
  { fields, receivedAtMs }: ArrivedResponse,
  directives: Directives,
  heuristicFraction: number,
): number | undefined {
  const maxAge = secondsOf(directives, 's-maxage') ?? secondsOf(directives, 'max-age');
  if (maxAge !== undefined) return maxAge;
  const dateMs = dateOf(fields, receivedAtMs);
  const expires = fields.get('expires');
  if (expires !== undefined) {
    // §5.3: what is no date, `0` above all, is in the past.
    const expiresMs = parseHttpDate(expires, receivedAtMs) ?? dateMs;
    return Math.max(0, expiresMs - dateMs);
  }
  const lastModified = fields.get('last-modified');
  if (heuristicFraction === 0 || lastModified === undefined) return undefined;
  const modifiedMs = parseHttpDate(lastModified, receivedAtMs);
  return modifiedMs === undefined ? undefined : Math.max(0, dateMs - modifiedMs) * heuristicFraction;
}

/** The response's Date, or when it came. */
export function dateOf(fields: Fields, receivedAtMs: number): number {
  const date = fields.get('date');
  return (date === undefined ? undefined : parseHttpDate(date, receivedAtMs)) ?? receivedAtMs;
}

/** RFC 9111 §4.2.3: how old a response was when it arrived, in ms. */
export function initialAge(fields: Fields, requestedAtMs: number, receivedAtMs: number): number {
  const apparent = Math.max(0, receivedAtMs - dateOf(fields, receivedAtMs));
  const said = parseSeconds(fields.get('age')?.split(',', 1)[0]?.trim() ?? '') ?? 0;
  return Math.max(apparent, said + (receivedAtMs - requestedAtMs));
}
