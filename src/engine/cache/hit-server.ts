import { randomBytes } from 'node:crypto';
import { PENDING } from '../wire/wire.js';
import type { Exchange, ResponseSource } from '../exchange/exchange.js';
import type { Fields } from '../exchange/fields.js';
import type { ResponseHead } from '../exchange/heads.js';
import { Piece } from '../exchange/piece.js';
import { type ByteRange, parseRanges } from './byte-ranges.js';
import type { CacheStore } from './cache-store.js';
import type { CacheResult } from './cache-result.js';
import { isNotModified, isRangeCurrent } from './conditional.js';
import { HitHeads, type HitTerms } from './hit-heads.js';
import { multipartRanges } from './multipart-ranges.js';
import type { StoredResponse } from './stored-response.js';

/** A stored response on its way to a client. */
export interface Hit extends CacheResult {
  readonly store: CacheStore;
  readonly stored: StoredResponse;
  readonly resultHeader: 'expose' | 'hide';
  /** What is left of the lifetime, in ms. */
  readonly remainingMs: number;
  /** The client's conditions and range, which may have been taken off the forwarded request. */
  readonly conditions: Fields;
  /** There are none of them. */
  readonly isUnconditional: boolean;
  readonly nowMs: number;
}

/** Answers from the store: 200 and the like, 304, 206, 416. */
export class HitServer {
  readonly #heads = new HitHeads();
  readonly #piece = new Piece();

  /**
   * False: the body is gone from the store, and nothing was answered. `leased` is a body that the caller holds
   * already and that serves when it is gone.
   */
  serve(exchange: Exchange, hit: Hit, leased?: Buffer): boolean {
    const { store, stored } = hit;
    const body = store.lease(stored) ?? leased;
    if (!body) return false;
    exchange.cacheResult = hit.status;
    const terms: HitTerms = hit;
    if (stored.status === 200 && !hit.isUnconditional) {
      if (isNotModified(hit.conditions, stored, hit.nowMs)) {
        this.#send(exchange, this.#heads.notModified(stored, terms), new Answer(store, stored, EMPTY));
        return true;
      }
      if (hit.conditions.has('range') && exchange.request.method === 'GET') {
        const ranges = currentRanges(hit);
        if (ranges) {
          this.#sendRanges(exchange, hit, { body, ranges });
          return true;
        }
      }
    }
    const isHead = exchange.request.method === 'HEAD';
    const answer = new Answer(store, stored, isHead ? EMPTY : body);
    const shared = this.#heads.shared(stored, terms);
    if (!shared) this.#send(exchange, this.#heads.full(stored, terms), answer);
    else if (exchange.respondShared(shared, this.#pieceOf(answer), answer) !== PENDING) answer.cancel();
    return true;
  }

  #sendRanges(
    exchange: Exchange,
    hit: Hit,
    { body, ranges }: { body: Buffer; ranges: readonly ByteRange[] },
  ): void {
    const { store, stored } = hit;
    const [range, ...others] = ranges;
    if (!range) {
      this.#send(exchange, this.#heads.unsatisfiable(stored, hit), new Answer(store, stored, EMPTY));
    } else if (others.length === 0) {
      const part = body.subarray(range.first, range.last + 1);
      this.#send(exchange, this.#heads.partial(stored, range, hit), new Answer(store, stored, part));
    } else {
      const boundary = randomBytes(12).toString('hex');
      const contentType = fieldOf(stored, 'content-type');
      const parts = multipartRanges(body, ranges, { boundary, contentType });
      const head = this.#heads.multipart(stored, hit, { boundary, length: parts.length });
      this.#send(exchange, head, new Answer(store, stored, parts));
    }
  }

  #send(exchange: Exchange, head: ResponseHead, answer: Answer): void {
    if (exchange.respondHead(head, this.#pieceOf(answer), answer) !== PENDING) answer.cancel();
  }

  #pieceOf({ bytes }: Answer): Piece {
    return this.#piece.set(bytes, 0, bytes.length, true);
  }
}

const EMPTY = Buffer.alloc(0);

/** Holds the lease of a body until its bytes have left. */
class Answer implements ResponseSource {
  readonly bytes: Buffer;
  readonly #store: CacheStore;
  readonly #stored: StoredResponse;
  #isHeld = true;

  constructor(store: CacheStore, stored: StoredResponse, bytes: Buffer) {
    this.#store = store;
    this.#stored = stored;
    this.bytes = bytes;
  }

  resume(): void {
    this.cancel();
  }

  cancel(): void {
    if (this.#isHeld) this.#store.release(this.#stored);
    this.#isHeld = false;
  }
}

function currentRanges({ stored, conditions, nowMs }: Hit): readonly ByteRange[] | undefined {
  const ifRange = conditions.get('if-range');
  if (ifRange !== undefined && !isRangeCurrent(ifRange, stored, nowMs)) return undefined;
  const ranges = parseRanges(conditions.getAll('range').join(','), stored.length);
  return ranges === 'ignored' ? undefined : ranges;
}

function fieldOf({ fields }: StoredResponse, name: string): string | undefined {
  for (let i = 0; i + 1 < fields.length; i += 2) if (fields[i] === name) return fields[i + 1];
  return undefined;
}
