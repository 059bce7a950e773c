import { FieldBlock, FieldList } from '../exchange/fields.js';
import { HeaderDecoder } from './hpack/header-decoder.js';

/** Longest block that is remembered, and places for them: a power of two. Blocks that share one push each other out. */
const REMEMBERED_LENGTH = 512;
const SLOTS = 128;
/** Looking up costs about as much as it saves when nothing repeats: credit for trying. */
const CREDIT = 32;

/** A decoded header block and what its reader made of it. */
export class HeaderBlock<T> {
  /** What the reader made of the fields; kept with the block. */
  template: T | undefined;
  /** The fields of a trailer section that may go on; kept with the block. */
  trailers: readonly string[] | undefined;
  #prepared: FieldBlock | undefined;
  #listed = false;

  constructor(
    readonly fields: string[],
    readonly malformed: boolean,
    readonly tooLarge: boolean,
    readonly neverIndexed: readonly string[] | undefined,
  ) {}

  /** The template's fields for one exchange, which may change them. Those of a block that repeats are prepared once. */
  list(fields: readonly string[]): FieldList {
    if (this.#prepared) return new FieldList([], this.#prepared);
    // Prepared fields carry no mark that they must not be indexed.
    if (this.#listed && this.neverIndexed === undefined) {
      this.#prepared = new FieldBlock(fields);
      return new FieldList([], this.#prepared);
    }
    this.#listed = true;
    const list = new FieldList([...fields]);
    list.neverIndexed = this.neverIndexed;
    return list;
  }
}

interface KnownBlock<T> {
  readonly bytes: Uint8Array;
  readonly block: HeaderBlock<T>;
}

/**
 * Header blocks of one connection. Clients repeat themselves: a block that changed nothing in the dynamic table means
 * the same as long as the table does not change, so its bytes are enough to find what it was decoded to.
 */
export class HeaderBlocks<T> {
  readonly #decoder: HeaderDecoder;
  #known: (KnownBlock<T> | undefined)[] = [];
  #credit = CREDIT;

  constructor(maxListSize: number) {
    this.#decoder = new HeaderDecoder(maxListSize);
  }

  /** @returns undefined for a COMPRESSION_ERROR. The block may be the same object as before. */
  decode(buffer: Buffer, start: number, end: number): HeaderBlock<T> | undefined {
    let slot = -1;
    if (end - start <= REMEMBERED_LENGTH && this.#credit++ >= 0) {
      slot = slotOf(buffer, start, end);
      const known = this.#known[slot];
      if (known !== undefined && isEqual(known.bytes, buffer, start, end)) {
        this.#credit = CREDIT;
        return known.block;
      }
      this.#credit -= 2;
      // After a row of failures a pause, in which each block gives a credit.
      if (this.#credit < 0) this.#credit = -CREDIT;
    }
    const decoder = this.#decoder;
    const { generation } = decoder;
    const fields = decoder.decode(buffer, start, end);
    if (fields === undefined) return undefined;
    const block = new HeaderBlock<T>(fields, decoder.malformed, decoder.tooLarge, decoder.neverIndexed);
    if (decoder.generation !== generation) this.#forget();
    else if (slot >= 0) this.#known[slot] = { bytes: new Uint8Array(buffer.subarray(start, end)), block };
    return block;
  }

  #forget(): void {
    if (this.#known.length > 0) this.#known = [];
  }
}

function slotOf(bytes: Uint8Array, start: number, end: number): number {
  let hash = end - start;
  for (let at = start; at < end; at++) hash = (Math.imul(hash, 31) + (bytes[at] ?? 0)) | 0;
  return (hash ^ (hash >>> 7) ^ (hash >>> 14)) & (SLOTS - 1);
}

function isEqual(known: Uint8Array, bytes: Uint8Array, start: number, end: number): boolean {
  if (known.length !== end - start) return false;
  for (let i = 0; i < known.length; i++) if (known[i] !== bytes[start + i]) return false;
  return true;
}
