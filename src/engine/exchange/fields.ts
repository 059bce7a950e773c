/**
 * The fields of a message's header or trailer section, in order, independent of the codec they came with.
 *
 * Names are given and visited in lower case. Values are latin-1 text without leading or trailing white space.
 * `host` is not among the fields of a request (it is `RequestHead.authority`), nor are pseudo-header fields.
 * Framing and connection-specific fields (`transfer-encoding`, `connection`, …) are removed by the codec that
 * received them; `content-length` is present when the sender sent it and is checked by the codecs.
 *
 * Implementations: {@link FieldList} (strings; HTTP/2, cache, answers of the gateway) and `RawFields` in http1/
 * (a view of received bytes with the changes noted beside it, so that nothing untouched becomes a string).
 */
export interface Fields {
  /** The first value, or undefined. */
  get(name: string): string | undefined;
  /** Every value, in order. */
  getAll(name: string): string[];
  has(name: string): boolean;
  /** Whether any of the names is there: one look where many would be needed. */
  hasAny(names: FieldNames): boolean;
  /** Whether the field is there once and has this value. */
  isExactly(name: string, value: string): boolean;
  /** Appends one field. The value must be free of CR, LF and NUL: whoever has it from outside checks it. */
  add(name: string, value: string): void;
  /** Appends prepared fields: cheaper than {@link add} for what is known before the request. */
  addBlock(block: FieldBlock): void;
  /** Replaces every value by one. */
  set(name: string, value: string): void;
  remove(name: string): void;
  forEach(visit: (name: string, value: string) => void): void;
  /** An independent copy. */
  toList(): FieldList;
  /**
   * Writes `name: value\r\n` for every field at `offset` of `target` and answers the offset behind them, or -1
   * when they do not fit.
   */
  writeHttp1(target: Buffer, offset: number): number;
}

/** Names that are asked for together, in lower case. Made once. */
export class FieldNames {
  readonly all: ReadonlySet<string>;
  /** What an implementation has found out about the names, once. */
  mask: number | undefined = undefined;

  constructor(names: readonly string[]) {
    this.all = new Set(names);
  }
}

const NO_BLOCKS: readonly never[] = [];

const POOLED_BYTES = 256;
/** Fewer bytes are copied by a loop: a call into the runtime costs more than they do. */
export const CALL_BYTES = 64;

/** Immutable fields with their HTTP/1.1 form: made once per configuration, connection or stored response. */
export class FieldBlock {
  /** name, value, name, value, … */
  readonly flat: readonly string[];
  /** `name: value\r\n` for each. */
  readonly http1: Buffer;
  #askedFor: FieldNames | undefined;
  #hasAny = false;

  constructor(flat: readonly string[]) {
    this.flat = flat;
    let length = 0;
    for (const text of flat) length += text.length + 2;
    // Small ones share the runtime's pool: every connection has one, and memory of its own would cost twice its size.
    const bytes = length <= POOLED_BYTES ? Buffer.allocUnsafe(length) : Buffer.allocUnsafeSlow(length);
    let at = 0;
    for (let i = 0; i + 1 < flat.length; i += 2) {
      at = writeFieldLine(bytes, at, flat[i] ?? '', flat[i + 1] ?? '');
    }
    this.http1 = bytes;
  }

  /** As {@link Fields.writeHttp1}. */
  writeHttp1(target: Buffer, offset: number): number {
    const { http1 } = this;
    const { length } = http1;
    if (offset + length > target.length) return -1;
    if (length >= CALL_BYTES) http1.copy(target, offset);
    else for (let i = 0; i < length; i++) target[offset + i] = http1[i] ?? 0;
    return offset + length;
  }

  /** The last question's answer is kept: a block lives long and is asked the same each time. */
  hasAny(names: FieldNames): boolean {
    if (names !== this.#askedFor) {
      this.#askedFor = names;
      this.#hasAny = anyIn(this.flat, names);
    }
    return this.#hasAny;
  }

  /** Itself when it has no field of the name. */
  without(name: string): FieldBlock {
    const { flat } = this;
    if (valueIn(flat, name) === undefined) return this;
    const kept: string[] = [];
    for (let i = 0; i + 1 < flat.length; i += 2) {
      if (flat[i] !== name) kept.push(flat[i] ?? '', flat[i + 1] ?? '');
    }
    return new FieldBlock(kept);
  }
}

/**
 * Fields as strings, with an optional immutable beginning and prepared blocks at the end, whose encoded forms are used
 * while they are untouched.
 */
export class FieldList implements Fields {
  /** Prepared beginning; undefined once something in it was changed. */
  #base: FieldBlock | undefined;
  readonly #flat: string[];
  #tail: FieldBlock[] | undefined = undefined;
  /** Names whose values no HTTP/2 hop may index (RFC 7541 section 6.2.3). */
  neverIndexed: readonly string[] | undefined;

  /** `flat` is name, value, name, value, …; it is not copied. */
  constructor(flat: string[] = [], base?: FieldBlock) {
    this.#flat = flat;
    this.#base = base;
  }

  /** The prepared beginning, while it is untouched. */
  get base(): FieldBlock | undefined {
    return this.#base;
  }

  /** name, value, …: what comes after {@link base}. */
  get own(): readonly string[] {
    return this.#flat;
  }

  /** Prepared fields: what comes after {@link own}. */
  get tail(): readonly FieldBlock[] {
    return this.#tail ?? NO_BLOCKS;
  }

  get(name: string): string | undefined {
    return (this.#base && valueIn(this.#base.flat, name)) ?? valueIn(this.#flat, name) ?? this.#inTail(name);
  }

  getAll(name: string): string[] {
    const values: string[] = [];
    if (this.#base) collect(this.#base.flat, name, values);
    collect(this.#flat, name, values);
    if (this.#tail) for (const { flat } of this.#tail) collect(flat, name, values);
    return values;
  }

  has(name: string): boolean {
    return this.get(name) !== undefined;
  }

  hasAny(names: FieldNames): boolean {
    if (this.#base?.hasAny(names) === true || anyIn(this.#flat, names)) return true;
    return this.#tail?.some((block) => block.hasAny(names)) ?? false;
  }

  isExactly(name: string, value: string): boolean {
    const values = this.getAll(name);
    return values.length === 1 && values[0] === value;
  }

  add(name: string, value: string): void {
    this.#melt();
    this.#flat.push(name, value);
  }

  addBlock(block: FieldBlock): void {
    (this.#tail ??= []).push(block);
  }

  set(name: string, value: string): void {
    this.remove(name);
    this.add(name, value);
  }

  remove(name: string): void {
    if (this.#base && valueIn(this.#base.flat, name) !== undefined) this.#dissolve();
    if (this.#inTail(name) !== undefined) this.#melt();
    const flat = this.#flat;
    let kept = 0;
    for (let i = 0; i + 1 < flat.length; i += 2) {
      if (flat[i] === name) continue;
      if (kept !== i) {
        flat[kept] = flat[i] ?? '';
        flat[kept + 1] = flat[i + 1] ?? '';
      }
      kept += 2;
    }
    flat.length = kept;
  }

  forEach(visit: (name: string, value: string) => void): void {
    if (this.#base) visitAll(this.#base.flat, visit);
    visitAll(this.#flat, visit);
    if (this.#tail) for (const { flat } of this.#tail) visitAll(flat, visit);
  }

  toList(): FieldList {
    const copy = new FieldList([...this.#flat], this.#base);
    if (this.#tail) copy.#tail = [...this.#tail];
    copy.neverIndexed = this.neverIndexed;
    return copy;
  }

  /** name, value, name, value, …: a copy. */
  toFlat(): string[] {
    const { base, tail } = this;
    return [...(base?.flat ?? []), ...this.#flat, ...tail.flatMap(({ flat }) => flat)];
  }

  writeHttp1(target: Buffer, offset: number): number {
    let at = offset;
    if (this.#base) {
      at = this.#base.writeHttp1(target, at);
      if (at < 0) return -1;
    }
    const flat = this.#flat;
    for (let i = 0; i + 1 < flat.length; i += 2) {
      at = writeFieldLine(target, at, flat[i] ?? '', flat[i + 1] ?? '');
      if (at < 0) return -1;
    }
    if (this.#tail) for (const block of this.#tail) if (at >= 0) at = block.writeHttp1(target, at);
    return at;
  }

  #inTail(name: string): string | undefined {
    if (this.#tail) {
      for (const { flat } of this.#tail) {
        const value = valueIn(flat, name);
        if (value !== undefined) return value;
      }
    }
    return undefined;
  }

  /** The blocks at the end become fields like the others. */
  #melt(): void {
    const tail = this.#tail;
    if (!tail) return;
    this.#tail = undefined;
    for (const { flat } of tail) for (const text of flat) this.#flat.push(text);
  }

  #dissolve(): void {
    const base = this.#base;
    this.#base = undefined;
    if (base) this.#flat.unshift(...base.flat);
  }
}

/** Writes `name: value\r\n`; answers the offset behind it, or -1 when it does not fit. */
export function writeFieldLine(target: Buffer, offset: number, name: string, value: string): number {
  let at = offset;
  if (at + name.length + value.length + 4 > target.length) return -1;
  at = writeLatin1(target, at, name);
  target[at++] = 0x3a;
  target[at++] = 0x20;
  at = writeLatin1(target, at, value);
  target[at++] = 0x0d;
  target[at++] = 0x0a;
  return at;
}

/**
 * Writes text that is known to fit; answers the offset behind it. What could end a line or a message early, or has no
 * latin-1 form, becomes `?`: whatever let it come this far, it never splits a message.
 */
export function writeLatin1(target: Buffer, offset: number, text: string): number {
  const { length } = text;
  for (let i = 0; i < length; i++) {
    const code = text.charCodeAt(i);
    target[offset + i] = code > 255 || code === 13 || code === 10 || code === 0 ? 0x3f : code;
  }
  return offset + length;
}

function valueIn(flat: readonly string[], name: string): string | undefined {
  for (let i = 0; i + 1 < flat.length; i += 2) if (flat[i] === name) return flat[i + 1];
  return undefined;
}

function anyIn(flat: readonly string[], { all }: FieldNames): boolean {
  for (let i = 0; i < flat.length; i += 2) if (all.has(flat[i] ?? '')) return true;
  return false;
}

function collect(flat: readonly string[], name: string, values: string[]): void {
  for (let i = 0; i + 1 < flat.length; i += 2) if (flat[i] === name) values.push(flat[i + 1] ?? '');
}

function visitAll(flat: readonly string[], visit: (name: string, value: string) => void): void {
  for (let i = 0; i + 1 < flat.length; i += 2) visit(flat[i] ?? '', flat[i + 1] ?? '');
}
