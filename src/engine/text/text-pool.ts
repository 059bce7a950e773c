import { latin1Slice } from './latin1.js';
import { hashAt, KnownBytes } from './known-bytes.js';

/** A power of two. Texts that share a place push each other out. */
const SLOTS = 1024;
/** What is kept: longest text, and all of them together, in bytes. */
const LONGEST = 4096;
const MOST = 524_288;

/** A text, and the bytes it is found by. */
export interface PooledText {
  readonly bytes: KnownBytes;
  readonly text: string;
}

/**
 * Texts by their bytes. One that repeats is made once, and its hash with it, which tables of texts want each time: that
 * costs more than to find it here. It enters when its bytes are seen twice in a row at its place: what never repeats
 * costs a number and pushes nobody out.
 */
export class TextPool {
  readonly #hashes = new Int32Array(SLOTS);
  #texts: (PooledText | undefined)[] = [];
  #size = 0;

  /** The text of `bytes[start, end)`, one character per byte, when it repeats. `view` is of the same bytes. */
  find(bytes: Buffer, view: DataView, start: number, end: number): PooledText | undefined {
    const length = end - start;
    if (length > LONGEST) return undefined;
    const hash = hashAt(view, start, length);
    const slot = hash & (SLOTS - 1);
    const known = this.#texts[slot];
    if (known?.bytes.length === length && known.bytes.isAt(view, start)) return known;
    if (this.#hashes[slot] === hash) {
      const text = latin1Slice(bytes, start, end);
      return this.#keep(slot, { bytes: new KnownBytes(view, start, length), text });
    }
    this.#hashes[slot] = hash;
    return undefined;
  }

  #keep(slot: number, pooled: PooledText): PooledText {
    this.#size += pooled.bytes.length - (this.#texts[slot]?.bytes.length ?? 0);
    if (this.#size > MOST) {
      this.#texts = [];
      this.#size = pooled.bytes.length;
    }
    this.#texts[slot] = pooled;
    return pooled;
  }
}
