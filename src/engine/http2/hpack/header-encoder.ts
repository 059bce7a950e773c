import type { FieldBlock, Fields } from '../../exchange/fields.js';
import { FieldList } from '../../exchange/fields.js';
import { latin1Write } from '../latin1.js';
import { encodeHuffman, huffmanLength } from './huffman.js';
import { ENTRY_OVERHEAD, STATIC_FIELDS, STATIC_LENGTH } from './static-table.js';

/** Most bytes of the table we use, however many the peer allows. */
const MAX_TABLE_SIZE = 4096;
/** A power of two that holds every entry of a full table: 4096 / 32. */
const RING = 128;
/** Names a connection remembers for indexing; past this it starts anew. */
const MAX_NAMES = 256;

/** How a field is put: RFC 7541 §6.2. */
const ADAPTIVE = 0;
const EAGER = 1;
const PLAIN = 2;
const NEVER = 3;

/** Names whose values are unique: looking for them in the table is of no use. */
const PLAIN_NAMES =
  'x-request-id traceparent tracestate grpc-message grpc-timeout grpc-status-details-bin range';
/** Names of few values: indexed when first seen. */
const EAGER_NAMES =
  ':authority user-agent content-type content-encoding accept accept-encoding accept-language cache-control ' +
  'server vary via te grpc-encoding grpc-accept-encoding grpc-status x-forwarded-proto x-forwarded-host ' +
  'x-forwarded-port x-forwarded-for';
/** RFC 7541 §7.1.3: credentials stay out of a table that a guess could probe. */
const NEVER_NAMES = 'authorization proxy-authorization cookie set-cookie';

interface KnownName {
  /** Index of the name in the static table, 0 for none. */
  readonly staticName: number;
  readonly staticValues: ReadonlyMap<string, number>;
  readonly policy: number;
}

/** What one connection remembers of a name. */
interface SeenName extends KnownName {
  /** Value → number of the dynamic entry, counted from the connection's first. */
  readonly entries: Map<string, number>;
  /** The newest dynamic entry with this name, -1 for none; it may be evicted. */
  newest: number;
  last: string;
}

const KNOWN = knownNames();
const UNKNOWN: KnownName = { staticName: 0, staticValues: new Map(), policy: ADAPTIVE };

function knownNames(): ReadonlyMap<string, KnownName> {
  const policies = new Map<string, number>();
  for (const [names, policy] of [
    [PLAIN_NAMES, PLAIN],
    [EAGER_NAMES, EAGER],
    [NEVER_NAMES, NEVER],
  ] as const) {
    for (const name of names.split(' ')) policies.set(name, policy);
  }
  const known = new Map<string, KnownName & { staticValues: Map<string, number> }>();
  for (let index = 1; index <= STATIC_LENGTH; index++) {
    const name = STATIC_FIELDS[index * 2] ?? '';
    const value = STATIC_FIELDS[index * 2 + 1] ?? '';
    const entry = known.get(name);
    if (entry) entry.staticValues.set(value, index);
    else {
      const policy = policies.get(name) ?? ADAPTIVE;
      const staticValues = new Map(value === '' ? [] : [[value, index]]);
      known.set(name, { staticName: index, staticValues, policy });
    }
  }
  for (const [name, policy] of policies) {
    if (!known.has(name)) known.set(name, { staticName: 0, staticValues: new Map(), policy });
  }
  return known;
}

/** A prepared run of fields as one encoder puts it, while its table is the same. */
interface EncodedBlock {
  readonly generation: number;
  readonly bytes: Buffer;
}

/** Where every encoder of the thread writes: a block is copied out before the next one begins. */
let scratch = Buffer.allocUnsafeSlow(16_384);

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
  readonly #visit = (name: string, value: string): void => {
    this.field(name, value);
  };
  readonly #seen = new Map<string, SeenName>();
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

  /** Every field. Prepared beginnings are copied when they were encoded before. */
  fields(fields: Fields): void {
    if (!(fields instanceof FieldList)) {
      fields.forEach(this.#visit);
      return;
    }
    if (fields.base) this.#block(fields.base);
    const { own, neverIndexed } = fields;
    for (let i = 0; i + 1 < own.length; i += 2) {
      const name = own[i] ?? '';
      this.field(name, own[i + 1] ?? '', neverIndexed?.includes(name));
    }
  }

  /** @param name in lower case. @param sensitive the field must never be indexed, on any hop. */
  field(name: string, value: string, sensitive = false): void {
    this.#reserve(name.length + value.length + 16);
    const seen = this.#seen.get(name) ?? this.#remember(name);
    const staticIndex = seen.staticValues.get(value);
    if (staticIndex !== undefined && !sensitive) {
      scratch[this.length++] = 0x80 | staticIndex;
      return;
    }
    if (sensitive || seen.policy === NEVER) {
      this.#literal(0x10, seen, name, value);
      return;
    }
    if (seen.policy === PLAIN) {
      this.#literal(0, seen, name, value);
      return;
    }
    const entry = seen.entries.get(value);
    if (entry !== undefined) {
      this.#integer(0x80, 0x7f, this.#indexOf(entry));
      return;
    }
    if (seen.policy === EAGER || seen.last === value) {
      this.#literal(0x40, seen, name, value);
      this.#add(seen, name, value);
    } else {
      seen.last = value;
      this.#literal(0, seen, name, value);
    }
  }

  #block(block: FieldBlock): void {
    const known = this.#blocks.get(block);
    if (known?.generation === this.#generation) {
      this.#reserve(known.bytes.length);
      this.length += known.bytes.copy(scratch, this.length);
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

  #literal(flags: number, seen: SeenName, name: string, value: string): void {
    const mask = flags === 0x40 ? 0x3f : 0x0f;
    if (seen.staticName > 0) this.#integer(flags, mask, seen.staticName);
    else if (seen.newest >= this.#next - this.#count) this.#integer(flags, mask, this.#indexOf(seen.newest));
    else {
      scratch[this.length++] = flags;
      this.#string(name);
    }
    this.#string(value);
  }

  #string(text: string): void {
    const length = text.length;
    const coded = huffmanLength(text);
    if (coded < length) {
      this.#integer(0x80, 0x7f, coded);
      this.length = encodeHuffman(text, scratch, this.length);
    } else {
      this.#integer(0, 0x7f, length);
      this.length = latin1Write(scratch, text, this.length);
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

  #remember(name: string): SeenName {
    if (this.#seen.size >= MAX_NAMES) this.#forget();
    const known = KNOWN.get(name) ?? UNKNOWN;
    const seen: SeenName = { ...known, entries: new Map(), newest: -1, last: '' };
    this.#seen.set(name, seen);
    return seen;
  }

  /** Names come without end from a hostile peer: those without a live entry are dropped. */
  #forget(): void {
    for (const [name, seen] of this.#seen) if (seen.entries.size === 0) this.#seen.delete(name);
  }

  #add(seen: SeenName, name: string, value: string): void {
    const size = name.length + value.length + ENTRY_OVERHEAD;
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
