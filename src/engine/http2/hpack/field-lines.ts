import type { Fields } from '../../exchange/fields.js';
import { latin1Slice } from '../../text/latin1.js';
import { headerName, type HeaderName } from './header-names.js';
import { hashAt, KNOWN_BYTES_SPARE, KnownBytes } from '../../text/known-bytes.js';
import { TextPool, type PooledText } from '../../text/text-pool.js';

/** Spellings of names that are remembered: a power of two. Those that share a place push each other out. */
const SLOTS = 512;
/** Longer ones are not. */
const LONGEST_NAME = 128;
const COLON = 58;
const CR = 13;

/** A name as somebody spells it, and what came with it and after it the last time. */
class LineName {
  readonly bytes: KnownBytes;
  readonly name: HeaderName;
  value: PooledText | undefined = undefined;
  next: LineName | undefined = undefined;

  constructor(bytes: KnownBytes, name: HeaderName) {
    this.bytes = bytes;
    this.name = name;
  }
}

/**
 * Reads fields in their HTTP/1.1 form, one line after the other. Senders repeat themselves: what a line was the last time
 * is compared with it before anything is searched, so most names and values become known without a new text.
 *
 * For each line {@link next}, then either {@link text} or {@link skip}.
 */
export class FieldLines {
  /** The lines, and where in them the value of the last one lies. */
  bytes = Buffer.allocUnsafeSlow(16_384);
  start = 0;
  end = 0;

  #view = viewOf(this.bytes);
  readonly #names: (LineName | undefined)[] = [];
  readonly #values = new TextPool();
  readonly #first = new LineName(new KnownBytes(this.#view, 0, 0), headerName(''));
  #line = this.#first;
  #at = 0;
  #end = 0;

  read(fields: Fields): void {
    this.#line = this.#first;
    this.#at = 0;
    this.#end = fields.writeHttp1(this.bytes, 0);
    while (this.#end < 0 || this.#end + KNOWN_BYTES_SPARE > this.bytes.length) {
      this.bytes = Buffer.allocUnsafeSlow(this.bytes.length * 2);
      this.#view = viewOf(this.bytes);
      this.#end = fields.writeHttp1(this.bytes, 0);
    }
  }

  /** The name of the next line; undefined after the last. */
  next(): HeaderName | undefined {
    const { bytes } = this;
    let at = this.#at;
    if (at >= this.#end) return undefined;
    let line = this.#line.next;
    if (line === undefined || !this.#isFollowedBy(line.bytes, COLON)) {
      line = this.#find(at);
      if (line.bytes.length <= LONGEST_NAME) this.#line.next = line;
    }
    this.#line = line;
    at += line.bytes.length + 1;
    while (at < this.#end && isBlank(bytes[at])) at++;
    this.#at = at;
    return line.name;
  }

  /** The value of the line when it repeats; otherwise it lies between `start` and `end`. */
  text(): string | undefined {
    const last = this.#line.value;
    if (last !== undefined && this.#isFollowedBy(last.bytes, CR)) {
      this.#at += last.bytes.length + 2;
      return last.text;
    }
    this.skip();
    const known = this.#values.find(this.bytes, this.#view, this.start, this.end);
    if (known !== undefined) this.#line.value = known;
    return known?.text;
  }

  /** Finds where the value begins and ends. */
  skip(): void {
    const { bytes } = this;
    let at = this.#at;
    this.start = at;
    while (at < this.#end && bytes[at] !== CR) at++;
    this.#at = at + 2;
    while (at > this.start && isBlank(bytes[at - 1])) at--;
    this.end = at;
  }

  /** The known bytes come next, and then this one. */
  #isFollowedBy(known: KnownBytes, byte: number): boolean {
    const end = this.#at + known.length;
    return end < this.#end && this.bytes[end] === byte && known.isAt(this.#view, this.#at);
  }

  #find(start: number): LineName {
    const { bytes } = this;
    let end = start;
    while (end < this.#end && bytes[end] !== COLON) end++;
    const length = end - start;
    const slot = hashAt(this.#view, start, length) & (SLOTS - 1);
    const known = this.#names[slot];
    if (known?.bytes.length === length && known.bytes.isAt(this.#view, start)) return known;
    const name = headerName(latin1Slice(bytes, start, end).toLowerCase());
    const line = new LineName(new KnownBytes(this.#view, start, length), name);
    if (length > LONGEST_NAME) return line;
    // What is pushed out may still be expected after another name: it must not hold a chain of more.
    if (known !== undefined) known.next = undefined;
    return (this.#names[slot] = line);
  }
}

function viewOf(bytes: Buffer): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
}

function isBlank(byte: number | undefined): boolean {
  return byte === 32 || byte === 9;
}
