import { KNOWN_BYTES_SPARE } from '../text/known-bytes.js';
import { latin1Slice } from '../text/latin1.js';
import { TextPool } from '../text/text-pool.js';

/**
 * Texts of request targets: one that repeats is the same object, so whoever looks it up in a map finds it hashed and compares
 * one pointer.
 */
export class TargetTexts {
  readonly #pool = new TextPool();
  /** Mostly the landing that all connections share. */
  #buffer: Buffer = EMPTY;
  #view = viewOf(EMPTY);

  /** The text of `buffer[start, end)`, one character per byte. */
  of(buffer: Buffer, start: number, end: number): string {
    if (end + KNOWN_BYTES_SPARE > buffer.length) return latin1Slice(buffer, start, end);
    if (buffer !== this.#buffer) {
      this.#buffer = buffer;
      this.#view = viewOf(buffer);
    }
    return this.#pool.find(buffer, this.#view, start, end)?.text ?? latin1Slice(buffer, start, end);
  }
}

function viewOf({ buffer, byteOffset, length }: Buffer): DataView {
  return new DataView(buffer, byteOffset, length);
}

const EMPTY = Buffer.alloc(0);
