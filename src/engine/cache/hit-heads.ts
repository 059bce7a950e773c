import { FieldBlock, FieldList } from '../exchange/fields.js';
import { PlainResponseHead, SharedResponseHead } from '../exchange/heads.js';
import { addResponseFields } from '../exchange/own-fields.js';
import type { ByteRange } from './byte-ranges.js';
import { resultFields, type ResultStatus } from './cache-result.js';
import { REPRESENTATION_FIELDS } from './conditional.js';
import { currentAge, type StoredResponse } from './stored-response.js';

export interface HitTerms {
  readonly status: ResultStatus;
  /** Parameters of `Cache-Status` without the lifetime. */
  readonly cacheStatus: string;
  readonly resultHeader: 'expose' | 'hide';
  /** What is left of the lifetime, in ms. */
  readonly remainingMs: number;
  readonly nowMs: number;
}

interface PreparedHit {
  readonly ageSeconds: number;
  readonly ttlSeconds: number;
  readonly resultHeader: string;
  readonly head: SharedResponseHead;
}

/** Most stored responses whose heads are kept within a second. */
const MOST_PREPARED = 2048;

/**
 * Heads of answers from the store. That of a plain hit changes once a second, with its Age: it is prepared then, for all
 * who ask within the second, and codecs keep its encoded form.
 */
export class HitHeads {
  #second = 0;
  readonly #prepared = new Map<StoredResponse, PreparedHit>();

  /** A whole answer. */
  full(stored: StoredResponse, terms: HitTerms): PlainResponseHead {
    return new PlainResponseHead(stored.status, new FieldList(wholeFields(stored, terms)), stored.length);
  }

  /** A whole answer for everybody; undefined when it is too special, or too many others are asked for. */
  shared(stored: StoredResponse, terms: HitTerms): SharedResponseHead | undefined {
    if (terms.status !== 'hit' || terms.cacheStatus !== 'hit' || stored.length === 0) return undefined;
    const ageSeconds = ageOf(stored, terms);
    const ttlSeconds = ttlOf(terms);
    const { resultHeader } = terms;
    const last = this.#prepared.get(stored);
    if (
      last?.ageSeconds === ageSeconds &&
      last.ttlSeconds === ttlSeconds &&
      last.resultHeader === resultHeader
    ) {
      return last.head;
    }
    this.#forgetOthers(terms.nowMs);
    if (this.#prepared.size >= MOST_PREPARED) return undefined;
    const plain = this.full(stored, terms);
    addResponseFields(plain);
    const block = new FieldBlock(plain.fields.toList().toFlat());
    const head = new SharedResponseHead(stored.status, new FieldList([], block), stored.length);
    this.#prepared.set(stored, { ageSeconds, ttlSeconds, resultHeader, head });
    return head;
  }

  /** What was prepared in another second is of no more use. */
  #forgetOthers(nowMs: number): void {
    const second = Math.floor(nowMs / 1000);
    if (second === this.#second) return;
    this.#second = second;
    this.#prepared.clear();
  }

  notModified(stored: StoredResponse, terms: HitTerms): PlainResponseHead {
    const flat = withoutNames(stored.fields, REPRESENTATION_FIELDS);
    return new PlainResponseHead(304, new FieldList([...flat, ...addedFields(stored, terms)]), stored.length);
  }

  /** One range of the body (RFC 9110 §15.3.7). */
  partial(stored: StoredResponse, { first, last }: ByteRange, terms: HitTerms): PlainResponseHead {
    const length = last - first + 1;
    const own = [
      'content-range',
      `bytes ${first}-${last}/${stored.length}`,
      'content-length',
      String(length),
    ];
    const fields = new FieldList([...stored.fields, ...addedFields(stored, terms), ...own]);
    return new PlainResponseHead(206, fields, length);
  }

  /** Several, as `multipart/byteranges` of the given boundary and length. */
  multipart(
    stored: StoredResponse,
    terms: HitTerms,
    body: { boundary: string; length: number },
  ): PlainResponseHead {
    const flat = withoutNames(stored.fields, new Set(['content-type']));
    const type = ['content-type', `multipart/byteranges; boundary=${body.boundary}`];
    const own = [...type, 'content-length', String(body.length)];
    return new PlainResponseHead(
      206,
      new FieldList([...flat, ...addedFields(stored, terms), ...own]),
      body.length,
    );
  }

  unsatisfiable(stored: StoredResponse, terms: HitTerms): PlainResponseHead {
    const own = ['content-range', `bytes */${stored.length}`, 'content-length', '0'];
    return new PlainResponseHead(416, new FieldList([...addedFields(stored, terms), ...own]), 0);
  }
}

function wholeFields(stored: StoredResponse, terms: HitTerms): string[] {
  return [...stored.fields, ...addedFields(stored, terms), 'content-length', String(stored.length)];
}

function addedFields(stored: StoredResponse, terms: HitTerms): string[] {
  const cacheStatus = `${terms.cacheStatus}; ttl=${ttlOf(terms)}`;
  const result = resultFields({ status: terms.status, cacheStatus }, terms.resultHeader);
  return ['age', String(ageOf(stored, terms)), ...result];
}

function ageOf(stored: StoredResponse, { nowMs }: HitTerms): number {
  return Math.floor(currentAge(stored, nowMs) / 1000);
}

function ttlOf({ remainingMs }: HitTerms): number {
  return Math.floor(remainingMs / 1000);
}

function withoutNames(flat: readonly string[], names: ReadonlySet<string>): string[] {
  const kept: string[] = [];
  for (let i = 0; i + 1 < flat.length; i += 2) {
    const name = flat[i] ?? '';
    if (!names.has(name)) kept.push(name, flat[i + 1] ?? '');
  }
  return kept;
}
