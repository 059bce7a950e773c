import type { Piece } from './piece.js';

/** The beginning of a request body, copied: what waits for a backend, or may have to be sent again. */
export class BodyStore {
  bytes = 0;
  #chunks: Buffer[] = [];

  add(piece: Piece): void {
    if (piece.length === 0) return;
    this.#chunks.push(piece.copy());
    this.bytes += piece.length;
  }

  /** All of it as one buffer; it stays in the store. */
  join(): Buffer {
    const [only] = this.#chunks;
    if (only && this.#chunks.length === 1) return only;
    const joined = Buffer.concat(this.#chunks);
    this.#chunks = [joined];
    return joined;
  }
}
