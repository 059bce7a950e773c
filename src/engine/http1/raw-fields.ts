import type { FieldBlock } from '../exchange/fields.js';
import { CALL_BYTES, FieldList, writeFieldLine, type FieldNames, type Fields } from '../exchange/fields.js';
import { HOST, idOf, maskOf } from './known-fields.js';

/** Numbers per field: start and end of the name, start and end of the value, id. */
const STRIDE = 5;
const NAME_END = 1;
const VALUE_START = 2;
const VALUE_END = 3;
const ID = 4;
/** Id of a field that is no longer there. */
const DROPPED = -1;

/**
 * Fields as they lie in a buffer. What is removed is marked, what is added is kept beside; an untouched run of lines is
 * copied as it came and never becomes a string.
 *
 * The parser fills it by {@link RawFields.append}. It is valid as long as the buffer is, or until {@link reset}.
 */
export class RawFields implements Fields {
  /** Fields found by the parser, dropped ones included. */
  count = 0;
  /** Bit per known id that is present and visible. */
  mask = 0;
  readonly #capacity: number;
  readonly #offsets: Int32Array;
  #buffer: Buffer = EMPTY;
  /** Offset behind the last line. */
  #end = 0;
  /** Added fields; a block has the name `''`. Only the first `#added` entries count. */
  readonly #addedNames: string[] = [];
  readonly #addedValues: (string | FieldBlock)[] = [];
  #added = 0;

  constructor(capacity = 100) {
    this.#capacity = capacity;
    this.#offsets = new Int32Array(capacity * STRIDE);
  }

  /** Makes it empty, for lines of this buffer. */
  reset(buffer: Buffer): void {
    this.#buffer = buffer;
    this.count = 0;
    this.mask = 0;
    this.#added = 0;
    this.#end = 0;
  }

  /** Notes a field. False: there are too many. */
  append(nameStart: number, nameEnd: number, valueStart: number, valueEnd: number): boolean {
    if (this.count === this.#capacity) return false;
    const at = this.count++ * STRIDE;
    const offsets = this.#offsets;
    offsets[at] = nameStart;
    offsets[at + NAME_END] = nameEnd;
    offsets[at + VALUE_START] = valueStart;
    offsets[at + VALUE_END] = valueEnd;
    offsets[at + ID] = 0;
    return true;
  }

  get lastValueStart(): number {
    return this.#offsets[(this.count - 1) * STRIDE + VALUE_START] ?? 0;
  }

  get lastValueEnd(): number {
    return this.#offsets[(this.count - 1) * STRIDE + VALUE_END] ?? 0;
  }

  /** Gives the last field its number and makes it visible under it. */
  identify(id: number): void {
    this.#offsets[(this.count - 1) * STRIDE + ID] = id;
    if (id !== HOST) this.mask |= 1 << id;
  }

  /** The last field is not passed on. */
  dropLast(): void {
    this.#offsets[(this.count - 1) * STRIDE + ID] = DROPPED;
  }

  /** The `Host` line is not passed on as it came. */
  dropHost(): void {
    for (let i = 0; i < this.count; i++) if (this.#id(i) === HOST) this.#offsets[i * STRIDE + ID] = DROPPED;
  }

  finish(end: number): void {
    this.#end = end;
  }

  /** The lines lie in `store` now, each byte `shift` further than before. */
  moveTo(store: Buffer, shift: number): void {
    const offsets = this.#offsets;
    for (let i = 0; i < this.count; i++) {
      const at = i * STRIDE;
      offsets[at] = (offsets[at] ?? 0) + shift;
      offsets[at + NAME_END] = (offsets[at + NAME_END] ?? 0) + shift;
      offsets[at + VALUE_START] = (offsets[at + VALUE_START] ?? 0) + shift;
      offsets[at + VALUE_END] = (offsets[at + VALUE_END] ?? 0) + shift;
    }
    this.#end += shift;
    this.#buffer = store;
  }

  get(name: string): string | undefined {
    const index = this.#find(idOf(name), name, 0);
    if (index >= 0) return this.#value(index);
    for (let i = 0; i < this.#added; i++) {
      const value = this.#addedAt(i, name);
      if (value !== undefined) return value;
    }
    return undefined;
  }

  getAll(name: string): string[] {
    const values: string[] = [];
    const id = idOf(name);
    for (let i = this.#find(id, name, 0); i >= 0; i = this.#find(id, name, i + 1))
      values.push(this.#value(i));
    for (let i = 0; i < this.#added; i++) {
      const value = this.#addedValues[i];
      if (typeof value === 'object') collectFrom(value, name, values);
      else if (value !== undefined && this.#addedNames[i] === name) values.push(value);
    }
    return values;
  }

  has(name: string): boolean {
    if (this.#find(idOf(name), name, 0) >= 0) return true;
    for (let i = 0; i < this.#added; i++) if (this.#addedAt(i, name) !== undefined) return true;
    return false;
  }

  hasAny(names: FieldNames): boolean {
    const mask = (names.mask ??= maskOf(names.all));
    if ((this.mask & mask) !== 0) return true;
    for (let i = 0; i < this.#added; i++) {
      const value = this.#addedValues[i];
      if (typeof value === 'object' ? value.hasAny(names) : names.all.has(this.#addedNames[i] ?? ''))
        return true;
    }
    return false;
  }

  isExactly(name: string, value: string): boolean {
    const id = idOf(name);
    const index = this.#find(id, name, 0);
    if (index < 0) {
      if (this.#added === 0) return false;
      const values = this.getAll(name);
      return values.length === 1 && values[0] === value;
    }
    if (this.#find(id, name, index + 1) >= 0 || !this.#hasValue(index, value)) return false;
    for (let i = 0; i < this.#added; i++) if (this.#addedAt(i, name) !== undefined) return false;
    return true;
  }

  #hasValue(index: number, value: string): boolean {
    const at = index * STRIDE;
    const start = this.#offsets[at + VALUE_START] ?? 0;
    const { length } = value;
    if ((this.#offsets[at + VALUE_END] ?? 0) - start !== length) return false;
    for (let i = 0; i < length; i++) if (this.#buffer[start + i] !== value.charCodeAt(i)) return false;
    return true;
  }

  add(name: string, value: string): void {
    this.#addedNames[this.#added] = name;
    this.#addedValues[this.#added++] = value;
  }

  addBlock(block: FieldBlock): void {
    this.#addedNames[this.#added] = '';
    this.#addedValues[this.#added++] = block;
  }

  set(name: string, value: string): void {
    this.remove(name);
    this.add(name, value);
  }

  remove(name: string): void {
    const id = idOf(name);
    for (let i = this.#find(id, name, 0); i >= 0; i = this.#find(id, name, i + 1)) {
      this.#offsets[i * STRIDE + ID] = DROPPED;
    }
    if (id !== 0) this.mask &= ~(1 << id);
    if (this.#added > 0) this.#removeAdded(name);
  }

  forEach(visit: (name: string, value: string) => void): void {
    for (let i = 0; i < this.count; i++) {
      const id = this.#id(i);
      if (id === DROPPED || id === HOST) continue;
      const at = i * STRIDE;
      const name = this.#buffer.toString('latin1', this.#offsets[at], this.#offsets[at + NAME_END]);
      visit(name.toLowerCase(), this.#value(i));
    }
    for (let i = 0; i < this.#added; i++) {
      const value = this.#addedValues[i];
      if (typeof value === 'object') {
        const { flat } = value;
        for (let k = 0; k + 1 < flat.length; k += 2) visit(flat[k] ?? '', flat[k + 1] ?? '');
      } else if (value !== undefined) visit(this.#addedNames[i] ?? '', value);
    }
  }

  toList(): FieldList {
    const flat: string[] = [];
    this.forEach((name, value) => {
      flat.push(name, value);
    });
    return new FieldList(flat);
  }

  writeHttp1(target: Buffer, offset: number): number {
    const offsets = this.#offsets;
    const { count } = this;
    let at = offset;
    let runStart = count > 0 ? (offsets[0] ?? 0) : 0;
    for (let i = 0; i < count; i++) {
      if (offsets[i * STRIDE + ID] !== DROPPED) continue;
      at = this.#copyRun(target, at, runStart, offsets[i * STRIDE] ?? 0);
      if (at < 0) return -1;
      runStart = i + 1 < count ? (offsets[(i + 1) * STRIDE] ?? 0) : this.#end;
    }
    if (count > 0) at = this.#copyRun(target, at, runStart, this.#end);
    for (let i = 0; i < this.#added && at >= 0; i++) at = this.#writeAdded(target, at, i);
    return at;
  }

  #writeAdded(target: Buffer, at: number, index: number): number {
    const value = this.#addedValues[index];
    if (typeof value !== 'object')
      return writeFieldLine(target, at, this.#addedNames[index] ?? '', value ?? '');
    return value.writeHttp1(target, at);
  }

  #copyRun(target: Buffer, at: number, start: number, end: number): number {
    if (end <= start) return at;
    if (at + end - start > target.length) return -1;
    const length = end - start;
    const source = this.#buffer;
    if (length >= CALL_BYTES) source.copy(target, at, start, end);
    else for (let i = 0; i < length; i++) target[at + i] = source[start + i] ?? 0;
    return at + length;
  }

  #id(index: number): number {
    return this.#offsets[index * STRIDE + ID] ?? DROPPED;
  }

  #value(index: number): string {
    const at = index * STRIDE;
    return this.#buffer.toString('latin1', this.#offsets[at + VALUE_START], this.#offsets[at + VALUE_END]);
  }

  /** Index of the next field of this name, whose number is `id`, from `from` on, or -1. */
  #find(id: number, name: string, from: number): number {
    if (id !== 0) {
      if ((this.mask & (1 << id)) === 0) return -1;
      for (let i = from; i < this.count; i++) if (this.#id(i) === id) return i;
      return -1;
    }
    for (let i = from; i < this.count; i++) if (this.#id(i) !== DROPPED && this.#isNamed(i, name)) return i;
    return -1;
  }

  #isNamed(index: number, name: string): boolean {
    const at = index * STRIDE;
    const start = this.#offsets[at] ?? 0;
    const length = (this.#offsets[at + NAME_END] ?? 0) - start;
    if (length !== name.length || this.#id(index) === HOST) return false;
    for (let i = 0; i < length; i++) {
      const byte = this.#buffer[start + i] ?? 0;
      const lower = byte >= 0x41 && byte <= 0x5a ? byte | 0x20 : byte;
      if (lower !== name.charCodeAt(i)) return false;
    }
    return true;
  }

  #addedAt(index: number, name: string): string | undefined {
    const value = this.#addedValues[index];
    if (typeof value !== 'object') return this.#addedNames[index] === name ? value : undefined;
    const { flat } = value;
    for (let k = 0; k + 1 < flat.length; k += 2) if (flat[k] === name) return flat[k + 1];
    return undefined;
  }

  #removeAdded(name: string): void {
    let kept = 0;
    for (let i = 0; i < this.#added; i++) {
      const own = this.#addedNames[i] ?? '';
      const value = this.#addedValues[i] ?? '';
      if (own === name) continue;
      this.#addedNames[kept] = own;
      this.#addedValues[kept++] = typeof value === 'object' ? value.without(name) : value;
    }
    this.#added = kept;
  }
}

const EMPTY = Buffer.alloc(0);

function collectFrom(block: FieldBlock, name: string, values: string[]): void {
  const { flat } = block;
  for (let k = 0; k + 1 < flat.length; k += 2) if (flat[k] === name) values.push(flat[k + 1] ?? '');
}
