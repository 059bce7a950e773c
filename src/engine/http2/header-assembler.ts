import {
  ENHANCE_YOUR_CALM,
  FLAG_END_HEADERS,
  FLAG_END_STREAM,
  FLAG_PADDED,
  FLAG_PRIORITY,
  MAX_WINDOW,
  NO_ERROR,
  PROTOCOL_ERROR,
} from './frame.js';
import type { Payload } from './frame-reader.js';

/** Most bytes of a header block, coded and decoded. */
export const MAX_HEADER_LENGTH = 65_536;
/** Frames that a header block may be cut into: full ones need five, cutting finer is only done to harm. */
const MAX_CONTINUATIONS = 16;
const NONE: Buffer = Buffer.alloc(0);

/**
 * Puts header blocks together that are cut into HEADERS and CONTINUATION frames (RFC 9113 §4.3, §6.2, §6.10).
 * When {@link complete} the block is `[start, end)` of `buffer`: valid until the next frame.
 */
export class HeaderAssembler {
  /** The stream whose block is not complete, or 0. */
  stream = 0;
  complete = false;
  /** The block ends its stream. */
  endsStream = false;
  /** The stream depends on itself: an error of the stream (RFC 7540 §5.3.1). Priority is ignored otherwise. */
  selfDependent = false;
  buffer = NONE;
  start = 0;
  end = 0;

  #held = NONE;
  #length = 0;
  #frames = 0;

  /** @returns an error code for the connection. */
  begin(flags: number, id: number, payload: Payload): number {
    const { buffer } = payload;
    let { start, end } = payload;
    if (flags & FLAG_PADDED) end -= buffer[start++] ?? 0;
    if (flags & FLAG_PRIORITY) {
      this.selfDependent = start + 4 <= end && dependencyAt(buffer, start) === id;
      start += 5;
    } else this.selfDependent = false;
    if (start > end || start > payload.end) return PROTOCOL_ERROR;
    this.endsStream = (flags & FLAG_END_STREAM) !== 0;
    this.complete = (flags & FLAG_END_HEADERS) !== 0;
    if (this.complete) {
      this.buffer = buffer;
      this.start = start;
      this.end = end;
      return NO_ERROR;
    }
    this.stream = id;
    this.#length = 0;
    this.#frames = 0;
    return this.#collect(buffer, start, end);
  }

  /** @returns an error code for the connection. */
  go(flags: number, { buffer, start, end }: Payload): number {
    if (this.stream === 0) return PROTOCOL_ERROR;
    this.#frames++;
    const error = this.#collect(buffer, start, end);
    if (error !== NO_ERROR || (flags & FLAG_END_HEADERS) === 0) return error;
    this.complete = true;
    this.stream = 0;
    this.buffer = this.#held;
    this.start = 0;
    this.end = this.#length;
    this.#held = NONE;
    return NO_ERROR;
  }

  /** CVE-2024-27983: a block without end must cost neither memory nor work. */
  #collect(source: Buffer, start: number, end: number): number {
    const length = this.#length + end - start;
    if (length > MAX_HEADER_LENGTH || this.#frames > MAX_CONTINUATIONS) return ENHANCE_YOUR_CALM;
    if (length > this.#held.length) {
      const larger = Buffer.allocUnsafe(Math.max(length, this.#held.length * 2));
      this.#held.copy(larger, 0, 0, this.#length);
      this.#held = larger;
    }
    source.copy(this.#held, this.#length, start, end);
    this.#length = length;
    return NO_ERROR;
  }
}

/** The stream that a PRIORITY section depends on. */
export function dependencyAt(buffer: Buffer, at: number): number {
  return buffer.readUInt32BE(at) & MAX_WINDOW;
}
