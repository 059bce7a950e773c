import type { FieldBlock, Fields } from '../../exchange/fields.js';
import { FieldList } from '../../exchange/fields.js';
import { latin1Write } from '../../text/latin1.js';
import { encodeHuffman, huffmanLength } from './huffman.js';
import { FieldLines } from './field-lines.js';
import { ADAPTIVE, EAGER, headerName, NEVER, PLAIN, type HeaderName } from './header-names.js';
import { ENTRY_OVERHEAD, STATIC_LENGTH } from './static-table.js';

/** Most bytes of the table we use, however many the peer allows. */
const MAX_TABLE_SIZE = 4096;
/** A power of two that holds every entry of a full table: 4096 / 32. */
const RING = 128;
/** Names a connection remembers for indexing; past this it starts anew. */
const MAX_NAMES = 256;

/** What one connection remembers of a name. */
interface SeenName {
  readonly name: HeaderName;
  /** Value → number of the dynamic entry, counted from the connection's first. */
  readonly entries: Map<string, number>;
  /** The newest dynamic entry with this name, -1 for none; it may be evicted. */
  newest: number;
  /** The last value that did not enter the table. */
  last: string;
  /** The last value that was found in it, and the number of its entry. */
  found: string;
  foundAt: number;
}

/** A prepared run of fields as one encoder puts it, while its table is the same. */
interface EncodedBlock {
  readonly generation: number;
  readonly bytes: Buffer;
}

const HOST = headerName('host');

/** Where every encoder of the thread writes: a block is copied out before the next one begins. */
let scratch = Buffer.allocUnsafeSlow(16_384);
/** A text on its way to be coded. */
let plain = Buffer.allocUnsafeSlow(4096);
/** Fields that are bytes. */
const lines = new FieldLines();

/**
 * Encodes header blocks (RFC 7541) with a dynamic table. A value enters the table at once when its name has few
 * values, and otherwise when it is seen the second time in a row: unique values never push out the others.
 */
export class HeaderEncoder {
  /** Length of the block so far. */
  length = 0;

  /** Changes with the dynamic table. */
  #generation = 0;
  readonly #blocks = new WeakMap<FieldBlock, EncodedBlock>();
  readonly #seen = new Map<string, SeenName>();
  /** Those of them that have a number, by it. */
  readonly #known: (SeenName | undefined)[] = [];
  // The dynamic table: a ring; entry `n` is in slot `n % RING`.
  readonly #owners: SeenName[] = [];
  readonly #values: string[] = [];
  readonly #sizes: number[] = [];
  #next = 0;
  #count = 0;
  #size = 0;
  #capacity = MAX_TABLE_SIZE;
  #announced = MAX_TABLE_SIZE;
  #lowest = MAX_TABLE_SIZE;

  /** The peer's SETTINGS_HEADER_TABLE_SIZE; told to it by the next block. */
  limitTable(size: number): void {
    this.#capacity = Math.min(size, MAX_TABLE_SIZE);
    this.#lowest = Math.min(this.#lowest, this.#capacity);
    this.#evict(0);
  }

  /** The block, at the start of this buffer: valid until any encoder of the thread begins another. */
  get bytes(): Buffer {
    return scratch;
  }

  /** Starts a block. */
  begin(): void {
    this.length = 0;
    if (this.#capacity === this.#announced && this.#lowest >= this.#capacity) return;
    // RFC 7541 §4.2: the smallest size since the last block comes first, so that the peer evicts as we did.
    if (this.#lowest < this.#capacity) this.#integer(0x20, 0x1f, this.#lowest);
    this.#integer(0x20, 0x1f, this.#capacity);
    this.#announced = this.#capacity;
    this.#lowest = this.#capacity;
  }

  status(status: number): void {
    const index =
      status === 200 ? 8 : status === 204 ? 9 : status === 206 ? 10 : status === 304 ? 11 :
      status === 400 ? 12 : status === 404 ? 13 : status === 500 ? 14 : 0; // prettier-ignore
    if (index > 0) scratch[this.length++] = 0x80 | index;
    else this.field(':status', String(status));
  }

  /** Every field. Prepared ones are copied when they were encoded before. */
  fields(fields: Fields): void {
    if (!(fields instanceof FieldList)) {
      this.#lines(fields);
      return;
    }
    if (fields.base) this.#block(fields.base);
    const { own, tail, neverIndexed } = fields;
    for (let i = 0; i + 1 < own.length; i += 2) {
      const name = own[i] ?? '';
      this.field(name, own[i + 1] ?? '', neverIndexed?.includes(name));
    }
    for (const block of tail) this.#block(block);
  }

  /** @param name in lower case. @param sensitive the field must never be indexed, on any hop. */
  field(name: string, value: string, sensitive = false): void {
    this.#reserve(name.length + value.length + 16);
    const seen = this.#seen.get(name) ?? this.#remember(headerName(name));
    const { policy } = seen.name;
    if (sensitive || policy === NEVER) this.#literal(0x10, seen, value);
    else if (policy === PLAIN) this.#literal(0, seen, value);
    else this.#indexable(seen, value);
  }

  /** Fields that are bytes as a rule are read from their HTTP/1.1 form: few of them become texts. */
  #lines(fields: Fields): void {
    lines.read(fields);
    for (let name = lines.next(); name !== undefined; name = lines.next()) {
      let value: string | undefined;
      if (name.policy === ADAPTIVE || name.policy === EAGER) value = lines.text();
      else lines.skip();
      // RFC 9113 §8.3.1: the authority says it.
      if (name !== HOST) this.#line(this.#seenName(name), value);
    }
  }

  /** @param value undefined when it never repeats: a table is of no use to it. */
  #line(seen: SeenName, value: string | undefined): void {
    const { text, policy } = seen.name;
    if (value !== undefined) {
      this.#reserve(text.length + value.length + 16);
      this.#indexable(seen, value);
      return;
    }
    const { bytes, start, end } = lines;
    this.#reserve(text.length + end - start + 16);
    this.#name(policy === NEVER ? 0x10 : 0, seen);
    this.#string(bytes, start, end);
  }

  #indexable(seen: SeenName, value: string): void {
    if (seen.found === value && seen.foundAt >= this.#next - this.#count) {
      this.#integer(0x80, 0x7f, this.#indexOf(seen.foundAt));
      return;
    }
    const staticIndex = seen.name.staticValues.get(value);
    if (staticIndex !== undefined) {
      scratch[this.length++] = 0x80 | staticIndex;
      return;
    }
    const entry = seen.entries.get(value);
    if (entry !== undefined) {
      seen.found = value;
      seen.foundAt = entry;
      this.#integer(0x80, 0x7f, this.#indexOf(entry));
      return;
    }
    if (seen.name.policy === EAGER || seen.last === value) {
      this.#literal(0x40, seen, value);
      this.#add(seen, value);
    } else {
      seen.last = value;
      this.#literal(0, seen, value);
    }
  }

  #block(block: FieldBlock): void {
    const known = this.#blocks.get(block);
    if (known?.generation === this.#generation) {
      this.#reserve(known.bytes.length);
      scratch.set(known.bytes, this.length);
      this.length += known.bytes.length;
      return;
    }
    const start = this.length;
    const generation = this.#generation;
    const { flat } = block;
    for (let i = 0; i + 1 < flat.length; i += 2) this.field(flat[i] ?? '', flat[i + 1] ?? '');
    if (generation !== this.#generation) return;
    this.#blocks.set(block, { generation, bytes: Buffer.from(scratch.subarray(start, this.length)) });
  }

  /** A literal is never longer than its texts, two lengths and an index. */
  #reserve(room: number): void {
    if (this.length + room <= scratch.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(scratch.length * 2, this.length + room));
    scratch.copy(larger, 0, 0, this.length);
    scratch = larger;
  }

  #indexOf(entry: number): number {
    return STATIC_LENGTH + this.#next - entry;
  }

  #literal(flags: number, seen: SeenName, value: string): void {
    this.#name(flags, seen);
    this.#text(value);
  }

  /** The beginning of a literal. */
  #name(flags: number, { name, newest }: SeenName): void {
    const mask = flags === 0x40 ? 0x3f : 0x0f;
    if (name.staticName > 0) this.#integer(flags, mask, name.staticName);
    else if (newest >= this.#next - this.#count) this.#integer(flags, mask, this.#indexOf(newest));
    else {
      scratch[this.length++] = flags;
      this.#text(name.text);
    }
  }

  #text(text: string): void {
    if (text.length > plain.length) plain = Buffer.allocUnsafeSlow(text.length);
    this.#string(plain, 0, latin1Write(plain, text, 0));
  }

  #string(bytes: Buffer, start: number, end: number): void {
    const length = end - start;
    const coded = huffmanLength(bytes, start, end);
    if (coded < length) {
      this.#integer(0x80, 0x7f, coded);
      this.length = encodeHuffman(bytes, start, end, { target: scratch, offset: this.length });
    } else {
      this.#integer(0, 0x7f, length);
      this.length += bytes.copy(scratch, this.length, start, end);
    }
  }

  #integer(flags: number, mask: number, value: number): void {
    const target = scratch;
    if (value < mask) {
      target[this.length++] = flags | value;
      return;
    }
    target[this.length++] = flags | mask;
    let rest = value - mask;
    for (; rest > 127; rest >>>= 7) target[this.length++] = (rest & 0x7f) | 0x80;
    target[this.length++] = rest;
  }

  #seenName(name: HeaderName): SeenName {
    return (name.id < 0 ? this.#seen.get(name.text) : this.#known[name.id]) ?? this.#remember(name);
  }

  #remember(name: HeaderName): SeenName {
    if (this.#seen.size >= MAX_NAMES) this.#forget();
    const seen: SeenName = { name, entries: new Map(), newest: -1, last: '', found: '', foundAt: -1 };
    this.#seen.set(name.text, seen);
    if (name.id >= 0) this.#known[name.id] = seen;
    return seen;
  }

  /** Names come without end from a hostile peer: those without a live entry are dropped. */
  #forget(): void {
    for (const [text, { name, entries }] of this.#seen) {
      if (entries.size === 0 && name.id < 0) this.#seen.delete(text);
    }
  }

  #add(seen: SeenName, value: string): void {
    const size = seen.name.text.length + value.length + ENTRY_OVERHEAD;
    this.#evict(size);
    if (size > this.#capacity) return;
    this.#generation++;
    const slot = this.#next % RING;
    this.#owners[slot] = seen;
    this.#values[slot] = value;
    this.#sizes[slot] = size;
    seen.entries.set(value, this.#next);
    seen.newest = this.#next++;
    this.#count++;
    this.#size += size;
  }

  #evict(room: number): void {
    while (this.#count > 0 && this.#size + room > this.#capacity) {
      const slot = (this.#next - this.#count) % RING;
      this.#owners[slot]?.entries.delete(this.#values[slot] ?? '');
      this.#size -= this.#sizes[slot] ?? 0;
      this.#count--;
      this.#generation++;
    }
  }
}
