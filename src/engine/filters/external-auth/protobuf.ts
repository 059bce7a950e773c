/**
 * As much of the protocol buffers encoding as messages of a few fields need: varints and length-delimited fields.
 * https://protobuf.dev/programming-guides/encoding
 */
const VARINT = 0;
const FIXED64 = 1;
const LENGTH_DELIMITED = 2;
const FIXED32 = 5;

/** Builds a message. Fields with their default value are left out, as proto3 does. */
export class ProtoWriter {
  readonly #parts: Buffer[] = [];

  /** A whole number. */
  number(field: number, value: number): this {
    if (value !== 0) this.#parts.push(varint(field * 8 + VARINT), value < 0 ? signed(value) : varint(value));
    return this;
  }

  text(field: number, value: string): this {
    return value === '' ? this : this.bytes(field, Buffer.from(value, 'utf8'));
  }

  /** Written even when it is empty: a message without fields is there all the same. */
  bytes(field: number, value: Buffer): this {
    this.#parts.push(varint(field * 8 + LENGTH_DELIMITED), varint(value.length), value);
    return this;
  }

  message(field: number, message: ProtoWriter): this {
    return this.bytes(field, message.finish());
  }

  finish(): Buffer {
    return Buffer.concat(this.#parts);
  }
}

/** One field of a message: `bytes` of length-delimited ones, else `number`. */
export interface ProtoField {
  readonly field: number;
  readonly number: number;
  readonly bytes: Buffer | undefined;
}

/** The fields of a message in order, unknown ones included; undefined when these bytes are none. */
export function readMessage(bytes: Buffer): readonly ProtoField[] | undefined {
  const fields: ProtoField[] = [];
  const cursor = new Cursor(bytes);
  while (!cursor.atEnd) {
    const tag = cursor.varint();
    const field = Math.floor(tag / 8);
    if (field < 1) return undefined;
    switch (tag % 8) {
      case VARINT:
        fields.push({ field, number: cursor.varint(), bytes: undefined });
        break;
      case LENGTH_DELIMITED:
        fields.push({ field, number: 0, bytes: cursor.take(cursor.varint()) });
        break;
      case FIXED64:
        cursor.take(8);
        break;
      case FIXED32:
        cursor.take(4);
        break;
      default:
        return undefined;
    }
    if (cursor.isBroken) return undefined;
  }
  return fields;
}

/** The last value of a field that may stand there once, as protobuf has it. */
export function lastOf(fields: readonly ProtoField[], field: number): ProtoField | undefined {
  return fields.findLast((one) => one.field === field);
}

class Cursor {
  isBroken = false;
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get atEnd(): boolean {
    return this.#at >= this.#bytes.length;
  }

  /** Numbers beyond 2^53 lose their lowest bits: none that is read here is that large. */
  varint(): number {
    let value = 0;
    for (let factor = 1, count = 0; count < 10; count++, factor *= 128) {
      const byte = this.#bytes[this.#at++];
      if (byte === undefined) break;
      value += (byte & 0x7f) * factor;
      if (byte < 0x80) return value;
    }
    this.isBroken = true;
    return 0;
  }

  take(length: number): Buffer {
    const start = this.#at;
    if (this.isBroken || length > this.#bytes.length - start) {
      this.isBroken = true;
      return Buffer.alloc(0);
    }
    this.#at += length;
    return this.#bytes.subarray(start, this.#at);
  }
}

/** A negative number takes all of its 64 bits. */
function signed(value: number): Buffer {
  const bits = BigInt.asUintN(64, BigInt(value));
  return Buffer.from(
    Array.from({ length: 10 }, (_, index) => {
      const group = Number((bits >> BigInt(7 * index)) & 0x7fn);
      return index < 9 ? group | 0x80 : group;
    }),
  );
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 0x80; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 0x80);
  bytes.push(rest);
  return Buffer.from(bytes);
}
