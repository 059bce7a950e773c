import type { Fields } from '../exchange/fields.js';
import { parseDirectives, secondsOf } from './directives.js';

/** What a client asks of the cache (RFC 9111 §5.2.1). Durations in ms. */
export interface RequestTerms {
  readonly noStore: boolean;
  /** Ask the origin first. */
  readonly noCache: boolean;
  /** Answer from the store or not at all. */
  readonly onlyIfCached: boolean;
  readonly maxAgeMs: number | undefined;
  readonly minFreshMs: number;
  /** How long stale is fine; `Infinity` for any. */
  readonly maxStaleMs: number;
}

export const NO_TERMS: RequestTerms = {
  noStore: false,
  noCache: false,
  onlyIfCached: false,
  maxAgeMs: undefined,
  minFreshMs: 0,
  maxStaleMs: 0,
};

/** `honors`: whether the client may ask for more than `no-store`. */
export function clientTermsOf(fields: Fields, honors: boolean): RequestTerms {
  const terms = requestTermsOf(fields);
  return honors || terms === NO_TERMS ? terms : { ...NO_TERMS, noStore: terms.noStore };
}

function requestTermsOf(fields: Fields): RequestTerms {
  if (!fields.has('cache-control')) {
    // §5.4: Pragma counts only where there is no Cache-Control.
    const pragma = fields.get('pragma');
    return pragma !== undefined && /(^|[\s,])no-cache($|[\s,])/i.test(pragma)
      ? { ...NO_TERMS, noCache: true }
      : NO_TERMS;
  }
  const directives = parseDirectives(fields.getAll('cache-control'));
  const maxStale = directives.get('max-stale');
  return {
    noStore: directives.has('no-store'),
    noCache: directives.has('no-cache'),
    onlyIfCached: directives.has('only-if-cached'),
    maxAgeMs: secondsOf(directives, 'max-age'),
    minFreshMs: secondsOf(directives, 'min-fresh') ?? 0,
    maxStaleMs: maxStale === true ? Infinity : (secondsOf(directives, 'max-stale') ?? 0),
  };
}
