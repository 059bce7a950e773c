import type { StoringTerms } from './storability.js';

/** A response in a store, without its body: what is needed to decide about it. Immutable. */
export interface StoredResponse {
  /** The key it is stored under. */
  readonly key: string;
  /** `https://a.test/path?query` as the client asked for it: what invalidation names. */
  readonly uri: string;
  readonly status: number;
  /** name, value, name, value, …: names in lower case, without Age and Content-Length. */
  readonly fields: readonly string[];
  /** Bytes of the body. */
  readonly length: number;
  readonly terms: StoringTerms;
  /** Age in ms when it arrived, and when that was, in ms since 1970. */
  readonly ageAtArrivalMs: number;
  readonly arrivedAtMs: number;
  /** Its Date, or when it arrived, in ms since 1970. */
  readonly dateMs: number;
  readonly etag: string | undefined;
  readonly lastModified: string | undefined;
  /** Request fields that chose it (Vary), in lower case and sorted, each with its value then. */
  readonly selectors: readonly Selector[];
}

export interface Selector {
  readonly name: string;
  /** Normalised; undefined when the request had no such field. */
  readonly value: string | undefined;
  /** The one line that it came in, as it was: who sends the same needs no normalising. */
  readonly line?: string;
}

/** In ms. */
export function currentAge({ ageAtArrivalMs, arrivedAtMs }: StoredResponse, nowMs: number): number {
  return ageAtArrivalMs + Math.max(0, nowMs - arrivedAtMs);
}
