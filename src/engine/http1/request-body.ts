import type { FieldList } from '../exchange/fields.js';
import type { Piece } from '../exchange/piece.js';
import { ChunkedDecoder } from './chunked-decoder.js';
import type { RawRequestHead } from './raw-heads.js';

const NONE = 0;
const LENGTH = 1;
const CHUNKED = 2;
const TUNNEL = 3;

/** Cuts the bytes behind a request head into the pieces of its body. */
export class RequestBody {
  /** What was wrong with the framing. */
  problem = '';
  trailers: FieldList | undefined = undefined;
  #form = NONE;
  #left = 0;
  #decoder: ChunkedDecoder | undefined = undefined;

  /** There is more of the body to come. */
  get active(): boolean {
    return this.#form !== NONE;
  }

  get tunnel(): boolean {
    return this.#form === TUNNEL;
  }

  /** Bytes to come; -1 when that is not known. */
  get left(): number {
    return this.#form === LENGTH ? this.#left : this.#form === NONE ? 0 : -1;
  }

  begin(head: RawRequestHead): void {
    this.trailers = undefined;
    if (head.chunked) {
      this.#form = CHUNKED;
      this.#decoder ??= new ChunkedDecoder();
      this.#decoder.reset();
    } else {
      this.#form = head.contentLength > 0 ? LENGTH : NONE;
      this.#left = head.contentLength;
    }
  }

  beginTunnel(): void {
    this.#form = TUNNEL;
  }

  stop(): void {
    this.#form = NONE;
  }

  /**
   * Takes what belongs to the body from `buffer[start, end)` and makes `piece` its payload. Answers the offset behind it, or
   * -1 with `problem`. With trailers the piece is not the last: they follow it.
   */
  read(buffer: Buffer, start: number, end: number, piece: Piece): number {
    switch (this.#form) {
      case LENGTH: {
        const behind = Math.min(end, start + this.#left);
        this.#left -= behind - start;
        if (this.#left === 0) this.#form = NONE;
        piece.set(buffer, start, behind, this.#left === 0);
        return behind;
      }
      case CHUNKED:
        return this.#readChunked(buffer, start, end, piece);
      case TUNNEL:
        piece.set(buffer, start, end, false);
        return end;
      default:
        piece.clear(true);
        return start;
    }
  }

  #readChunked(buffer: Buffer, start: number, end: number, piece: Piece): number {
    const decoder = this.#decoder;
    if (!decoder) return -1;
    const behind = decoder.decode(buffer, start, end);
    if (behind < 0) {
      this.problem = decoder.problem;
      return -1;
    }
    if (decoder.done) {
      this.#form = NONE;
      this.trailers = decoder.trailers;
    }
    piece.set(buffer, decoder.from, decoder.to, decoder.done && !decoder.trailers);
    return behind;
  }
}
