import { latin1Slice } from '../../text/latin1.js';
import { decodeHuffman } from './huffman.js';
import { ENTRY_OVERHEAD, STATIC_FIELDS, STATIC_LENGTH } from './static-table.js';

/** Size in bytes of the table we let the peer use: the initial SETTINGS_HEADER_TABLE_SIZE, never changed. */
const MAX_TABLE_SIZE = 4096;
/** A power of two that holds every entry of a full table: 4096 / 32. */
const RING = 128;

const NAME_BYTES = Uint8Array.from({ length: 256 }, (_, byte) =>
  /[!#$%&'*+\-.^_`|~0-9a-z]/.test(String.fromCharCode(byte)) ? 1 : 0,
);
/** RFC 9113 §8.2.1 forbids NUL, CR and LF; the other control characters are refused as in HTTP/1.1. */
const VALUE_BYTES = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte === 9 || (byte >= 32 && byte !== 127) ? 1 : 0,
);
const COLON = 58;

/** Strings decoded from Huffman code; grows to the longest one seen, which the bound on blocks limits. */
let scratch = Buffer.allocUnsafeSlow(4096);

/**
 * Decodes header blocks (RFC 7541) with a dynamic table of at most 4096 bytes. One decoder serves one direction
 * of one connection, and sees every block of it in order: also of streams that were refused or reset.
 */
export class HeaderDecoder {
  /** Changes whenever the dynamic table does: what was decoded before holds only within one generation. */
  generation = 0;
  /** The last block had a field that RFC 9113 §8.2.1 calls malformed. */
  malformed = false;
  /** The last block's field list was larger than allowed; its fields are incomplete, the table is right. */
  tooLarge = false;
  /** Names of the last block's fields that must never be indexed, on any hop (RFC 7541 §6.2.3). */
  neverIndexed: string[] | undefined;

  readonly #maxListSize: number;
  // The dynamic table: a ring, newest entry at `#newest`.
  readonly #names: string[] = [];
  readonly #values: string[] = [];
  readonly #bad: boolean[] = [];
  #newest = RING - 1;
  #count = 0;
  #size = 0;
  #capacity = MAX_TABLE_SIZE;
  // Where the block is read, and what the last string and integer were.
  #at = 0;
  #stringBad = false;

  /** @param maxListSize most bytes of a field list, each field counted with 32 more (RFC 9113 §6.5.2). */
  constructor(maxListSize: number) {
    this.#maxListSize = maxListSize;
  }

  /**
   * Decodes one whole block.
   * @returns names and values by turns, in new array; undefined is a COMPRESSION_ERROR of the connection.
   */
  decode(block: Buffer, start: number, end: number): string[] | undefined {
    this.malformed = false;
    this.tooLarge = false;
    this.neverIndexed = undefined;
    this.#at = start;
    const fields: string[] = [];
    let listSize = 0;
    let updatesAllowed = true;
    while (this.#at < end) {
      const first = block[this.#at] ?? 0;
      let name: string | undefined;
      let value: string | undefined;
      if (first & 0x80) {
        const index = this.#integer(block, end, 0x7f);
        if (index <= 0) return undefined;
        if (index <= STATIC_LENGTH) {
          name = STATIC_FIELDS[index * 2];
          value = STATIC_FIELDS[index * 2 + 1];
        } else {
          const slot = this.#slot(index);
          if (slot < 0) return undefined;
          name = this.#names[slot];
          value = this.#values[slot];
          if (this.#bad[slot]) this.malformed = true;
        }
      } else if ((first & 0xe0) === 0x20) {
        // RFC 7541 §4.2: size updates come before the first field, and stay within what we allowed.
        const capacity = this.#integer(block, end, 0x1f);
        if (!updatesAllowed || capacity < 0 || capacity > MAX_TABLE_SIZE) return undefined;
        this.generation++;
        this.#capacity = capacity;
        this.#evict(0);
        continue;
      } else {
        const indexed = (first & 0x40) !== 0;
        const index = this.#integer(block, end, indexed ? 0x3f : 0x0f);
        if (index < 0) return undefined;
        let bad = false;
        if (index === 0) {
          name = this.#string(block, end, NAME_BYTES);
          bad = this.#stringBad || name === '';
        } else if (index <= STATIC_LENGTH) name = STATIC_FIELDS[index * 2];
        else {
          const slot = this.#slot(index);
          if (slot < 0) return undefined;
          name = this.#names[slot];
          bad = this.#bad[slot] ?? false;
        }
        value = this.#string(block, end, VALUE_BYTES);
        if (name === undefined || value === undefined) return undefined;
        bad ||= this.#stringBad;
        if (bad) this.malformed = true;
        if (indexed) this.#add(name, value, bad);
        else if (first & 0x10) (this.neverIndexed ??= []).push(name);
      }
      if (name === undefined || value === undefined) return undefined;
      updatesAllowed = false;
      listSize += name.length + value.length + ENTRY_OVERHEAD;
      // A small block can name a large entry many times: stop collecting, but keep the table in step.
      if (listSize > this.#maxListSize) this.tooLarge = true;
      else fields.push(name, value);
    }
    return fields;
  }

  #slot(index: number): number {
    const age = index - STATIC_LENGTH - 1;
    return age < this.#count ? (this.#newest - age + RING) % RING : -1;
  }

  #add(name: string, value: string, bad: boolean): void {
    const size = name.length + value.length + ENTRY_OVERHEAD;
    this.generation++;
    this.#evict(size);
    // RFC 7541 §4.4: an entry larger than the table empties it and is no error.
    if (size > this.#capacity) return;
    this.#newest = (this.#newest + 1) % RING;
    this.#names[this.#newest] = name;
    this.#values[this.#newest] = value;
    this.#bad[this.#newest] = bad;
    this.#count++;
    this.#size += size;
  }

  #evict(room: number): void {
    while (this.#count > 0 && this.#size + room > this.#capacity) {
      const slot = (this.#newest - this.#count + 1 + RING) % RING;
      this.#size -= (this.#names[slot] ?? '').length + (this.#values[slot] ?? '').length + ENTRY_OVERHEAD;
      this.#names[slot] = '';
      this.#values[slot] = '';
      this.#count--;
    }
  }

  /** RFC 7541 §5.1. @returns -1 when the integer is not complete or larger than anything we accept. */
  #integer(block: Buffer, end: number, mask: number): number {
    let value = (block[this.#at++] ?? 0) & mask;
    if (value < mask) return value;
    for (let shift = 0; shift <= 21; shift += 7) {
      if (this.#at >= end) return -1;
      const byte = block[this.#at++] ?? 0;
      value += (byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    return -1;
  }

  /** RFC 7541 §5.2; checks the bytes on the way. @returns undefined when the coding is wrong. */
  #string(block: Buffer, end: number, allowed: Uint8Array): string | undefined {
    if (this.#at >= end) return undefined;
    const huffman = ((block[this.#at] ?? 0) & 0x80) !== 0;
    const length = this.#integer(block, end, 0x7f);
    const start = this.#at;
    if (length < 0 || start + length > end) return undefined;
    this.#at = start + length;
    if (!huffman) {
      this.#stringBad = isBad(block, start, this.#at, allowed);
      return latin1Slice(block, start, this.#at);
    }
    if (length * 2 > scratch.length) scratch = Buffer.allocUnsafeSlow(length * 2);
    const decoded = decodeHuffman(block, start, this.#at, scratch);
    if (decoded < 0) return undefined;
    this.#stringBad = isBad(scratch, 0, decoded, allowed);
    return latin1Slice(scratch, 0, decoded);
  }
}

function isBad(bytes: Uint8Array, start: number, end: number, allowed: Uint8Array): boolean {
  if (start === end) return false;
  let at = start;
  if (allowed === NAME_BYTES) {
    // Only pseudo-header fields begin with a colon; whether one is known is checked with the whole list.
    if (bytes[at] === COLON) at++;
  } else if (isBlank(bytes[start]) || isBlank(bytes[end - 1])) return true;
  for (; at < end; at++) if (allowed[bytes[at] ?? 0] === 0) return true;
  return false;
}

function isBlank(byte: number | undefined): boolean {
  return byte === 32 || byte === 9;
}
