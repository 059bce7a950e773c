import type { FieldList } from '../exchange/fields.js';
import { HEX, VALUE } from './characters.js';
import { FieldParser, INCOMPLETE } from './field-parser.js';
import { RawFields } from './raw-fields.js';

const CR = 13;
const LF = 10;
const SEMICOLON = 59;

/** 48 bits: exact in a double, and no body is larger. */
const MAX_SIZE_DIGITS = 12;
/** Chunk extensions are ignored, but a body made of them is an attack. */
const MAX_EXTENSION_BYTES = 16 * 1024;
const MAX_TRAILER_BYTES = 8 * 1024;

const SIZE = 0;
const EXTENSION = 1;
const SIZE_LF = 2;
const DATA = 3;
const DATA_CR = 4;
const DATA_LF = 5;
const TRAILERS = 6;
const DONE = 7;

const trailerParser = new FieldParser('trailers');

/**
 * Takes the chunked transfer coding off (RFC 9112 section 7.1), strictly: each size is digits, each line ends in CRLF.
 * The payload of one call is moved together in place, so that it is one run.
 */
export class ChunkedDecoder {
  /** Payload of the last call: `buffer[from, to)`. */
  from = 0;
  to = 0;
  /** The last chunk and the trailer section have been read. */
  done = false;
  problem = '';
  /** Set when `done` and there are any. */
  trailers: FieldList | undefined = undefined;
  #state = SIZE;
  /** Bytes of the chunk that are still to come. */
  #left = 0;
  #digits = 0;
  #extensionBytes = 0;
  #trailerBytes: Buffer | undefined = undefined;

  reset(): void {
    this.done = false;
    this.problem = '';
    this.trailers = undefined;
    this.#state = SIZE;
    this.#left = 0;
    this.#digits = 0;
    this.#extensionBytes = 0;
    this.#trailerBytes = undefined;
  }

  /** Reads `buffer[start, end)`; answers the offset behind what belongs to the body, or -1 with `problem`. */
  decode(buffer: Buffer, start: number, end: number): number {
    let at = start;
    let from = start;
    let to = start;
    while (at < end) {
      const byte = buffer[at] ?? 0;
      switch (this.#state) {
        case SIZE: {
          const digit = HEX[byte] ?? -1;
          if (digit >= 0) {
            if (++this.#digits > MAX_SIZE_DIGITS) return this.#refuse('a chunk size is too long');
            this.#left = this.#left * 16 + digit;
          } else if (this.#digits === 0) return this.#refuse('a chunk size is missing');
          else if (byte === CR) this.#state = SIZE_LF;
          else if (byte === SEMICOLON) this.#state = EXTENSION;
          else return this.#refuse('a chunk size is malformed');
          at++;
          break;
        }
        case EXTENSION:
          if (byte === CR) this.#state = SIZE_LF;
          else if (VALUE[byte] !== 1) return this.#refuse('a chunk extension has a forbidden character');
          else if (++this.#extensionBytes > MAX_EXTENSION_BYTES)
            return this.#refuse('the chunk extensions are too long');
          at++;
          break;
        case SIZE_LF:
          if (byte !== LF) return this.#refuse('a chunk size does not end in CRLF');
          this.#digits = 0;
          this.#state = this.#left === 0 ? TRAILERS : DATA;
          at++;
          break;
        case DATA: {
          const length = Math.min(this.#left, end - at);
          if (to === from) {
            from = at;
            to = at;
          } else if (to !== at) buffer.copyWithin(to, at, at + length);
          to += length;
          at += length;
          this.#left -= length;
          if (this.#left === 0) this.#state = DATA_CR;
          break;
        }
        case DATA_CR:
          if (byte !== CR) return this.#refuse('a chunk is longer than its size');
          this.#state = DATA_LF;
          at++;
          break;
        case DATA_LF:
          if (byte !== LF) return this.#refuse('a chunk does not end in CRLF');
          this.#state = SIZE;
          at++;
          break;
        case TRAILERS: {
          const behind = this.#readTrailers(buffer, at, end);
          if (behind < 0) return behind;
          at = behind;
          if (this.done) {
            this.from = from;
            this.to = to;
            return at;
          }
          break;
        }
        default:
          return this.#refuse('bytes follow the last chunk');
      }
    }
    this.from = from;
    this.to = to;
    return at;
  }

  #readTrailers(buffer: Buffer, start: number, end: number): number {
    // Nearly always there is nothing but the empty line.
    if (!this.#trailerBytes && start + 1 < end && buffer[start] === CR && buffer[start + 1] === LF) {
      return this.#finish(start + 2);
    }
    const before = this.#trailerBytes?.length ?? 0;
    const bytes = Buffer.concat([this.#trailerBytes ?? EMPTY, buffer.subarray(start, end)]);
    const fields = new RawFields();
    fields.reset(bytes);
    const behind = trailerParser.parse(bytes, 0, bytes.length, fields);
    if (behind < 0) return this.#refuse(trailerParser.problem);
    if ((behind === INCOMPLETE ? bytes.length : behind) > MAX_TRAILER_BYTES) {
      return this.#refuse('the trailers are too long');
    }
    if (behind === INCOMPLETE) {
      this.#trailerBytes = bytes;
      return end;
    }
    const trailers = fields.toList();
    if (trailers.toFlat().length > 0) this.trailers = trailers;
    return this.#finish(start + behind - before);
  }

  #finish(behind: number): number {
    this.done = true;
    this.#state = DONE;
    this.#trailerBytes = undefined;
    return behind;
  }

  #refuse(problem: string): -1 {
    this.problem = problem;
    return -1;
  }
}

const EMPTY = Buffer.alloc(0);
