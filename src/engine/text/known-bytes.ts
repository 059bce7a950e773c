/** The bits of a word in which the first 0 to 3 bytes lie. */
const TAILS = [0, 0xff, 0xffff, 0xff_ffff] as const;

/** Bytes behind those that are read or compared which must be readable, whatever they are. */
export const KNOWN_BYTES_SPARE = 3;

/** A copy of some bytes, to be compared with others four at a time: see {@link KNOWN_BYTES_SPARE}. */
export class KnownBytes {
  readonly length: number;
  readonly #words: Int32Array;
  readonly #tail: number;

  constructor(view: DataView, start: number, length: number) {
    this.length = length;
    this.#words = new Int32Array(length >> 2);
    for (let i = 0; i < this.#words.length; i++) this.#words[i] = view.getInt32(start + i * 4, true);
    this.#tail = tailAt(view, start, length);
  }

  /** Whether the same bytes are at `start`. */
  isAt(view: DataView, start: number): boolean {
    const words = this.#words;
    const count = words.length;
    for (let i = 0; i < count; i++) if (view.getInt32(start + i * 4, true) !== words[i]) return false;
    return tailAt(view, start, this.length) === this.#tail;
  }
}

/** A number for the bytes; equal for equal ones. */
export function hashAt(view: DataView, start: number, length: number): number {
  const end = start + (length & ~3);
  let hash = length;
  for (let at = start; at < end; at += 4) {
    hash = Math.imul(hash ^ view.getInt32(at, true), 0x9e37_79b1);
    hash ^= hash >>> 15;
  }
  hash = Math.imul(hash ^ tailAt(view, start, length), 0x85eb_ca6b);
  return hash ^ (hash >>> 13);
}

function tailAt(view: DataView, start: number, length: number): number {
  const rest = length & 3;
  return rest === 0 ? 0 : view.getInt32(start + length - rest, true) & (TAILS[rest] ?? 0);
}
