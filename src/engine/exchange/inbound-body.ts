import { BodyStore } from './body-store.js';
import type { RequestBodyTap } from './exchange.js';
import type { Fields } from './fields.js';
import { Piece } from './piece.js';

interface Collection {
  readonly limit: number;
  readonly done: (body: Buffer | undefined) => void;
}

/**
 * The body of one request on its way in: what was received while no backend was there to take it, what is kept to be sent
 * again, and who else listens. It never holds more than its limits and what one read brings.
 */
export class InboundBody {
  /** Payload received. */
  bytes = 0;
  /** The last byte, and the trailers, have come. */
  done = false;
  trailers: Fields | undefined = undefined;
  /** First part, valid within `begin` only. */
  #first: Piece | undefined;
  /** Everything from the first byte on, or undefined when that is no longer so. */
  #store: BodyStore | undefined = undefined;
  #taps: RequestBodyTap[] | undefined = undefined;
  #collection: Collection | undefined = undefined;

  constructor(first: Piece) {
    this.#first = first;
    this.bytes = first.length;
    this.done = first.last;
  }

  /** Everything received so far can be sent (again). */
  get isComplete(): boolean {
    return this.bytes === 0 || this.#first !== undefined || this.#store?.bytes === this.bytes;
  }

  /** `begin` returns: what nobody took is copied. */
  settle(): void {
    if (!this.#first) return;
    if (this.#first.length > 0) this.keepFirst();
    this.#first = undefined;
  }

  /** Keeps the first part, which is about to be sent, to be sent again. */
  keepFirst(): void {
    if (!this.#first || this.#store) return;
    this.#store = new BodyStore();
    this.#store.add(this.#first);
  }

  /** Gives up sending it again. */
  forget(): void {
    this.#store = undefined;
    this.#first = undefined;
  }

  /** Makes `piece` everything that was received so far. */
  fill(piece: Piece): void {
    const last = this.done && !this.trailers;
    if (this.#first) {
      const { buffer, start, end } = this.#first;
      piece.set(buffer, start, end, last);
    } else if (this.#store && this.#store.bytes > 0) {
      const bytes = this.#store.join();
      piece.set(bytes, 0, bytes.length, last);
    } else piece.clear(last);
  }

  /** Notes a part that came after `begin`; keeps it when `limit` allows. */
  receive(piece: Piece, limit: number): void {
    const wasComplete = this.isComplete;
    this.bytes += piece.length;
    if (piece.last) this.done = true;
    if (wasComplete && this.bytes <= limit) (this.#store ??= new BodyStore()).add(piece);
    else this.#store = undefined;
    if (this.#taps) for (const tap of this.#taps) tap.onBody(piece);
    this.#checkCollection();
  }

  receiveTrailers(trailers: Fields, last: Piece): void {
    this.trailers = trailers;
    this.done = true;
    if (this.#taps) for (const tap of this.#taps) tap.onBody(last);
    this.#checkCollection();
  }

  tap(tap: RequestBodyTap, scratch: Piece): void {
    if (!this.done) (this.#taps ??= []).push(tap);
    this.fill(scratch);
    if (scratch.length > 0 || this.done) {
      scratch.last = this.done;
      tap.onBody(scratch);
    }
  }

  /** True: the body is wanted, more must be read. */
  collect(limit: number, done: (body: Buffer | undefined) => void): boolean {
    this.settle();
    this.#collection = { limit, done };
    this.#checkCollection();
    return this.isCollecting;
  }

  get isCollecting(): boolean {
    return this.#collection !== undefined;
  }

  abort(): void {
    const collection = this.#collection;
    this.#collection = undefined;
    if (this.#taps && !this.done) for (const tap of this.#taps) tap.onBodyAbort();
    collection?.done(undefined);
  }

  #checkCollection(): void {
    const collection = this.#collection;
    if (!collection) return;
    const isTooLarge = this.bytes > collection.limit;
    if (!isTooLarge && !this.done) return;
    this.#collection = undefined;
    collection.done(isTooLarge ? undefined : (this.#store?.join() ?? EMPTY));
  }
}

const EMPTY = Buffer.alloc(0);

/** The body of every request that has none: it never changes. */
export const NO_BODY = new InboundBody(new Piece().clear(true));
NO_BODY.settle();
