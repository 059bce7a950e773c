/** Room before the bytes that are read: for a rewritten head or the size of a chunk. */
export const HEADROOM = 1024;
/** Bytes read at once; measured best for bulk (64 KiB reads and writes). */
export const READ_BYTES = 64 * 1024;
/** Room behind: the end of a chunk and the last chunk. */
export const TAILROOM = 16;

/**
 * A read buffer with one owner. Ownership: the connection that took it from the pool owns it until it gives it back; while
 * a write from it is `PENDING` the wire owns its bytes, and it must not be given back or read into.
 */
export class ReadBuffer {
  readonly full = Buffer.allocUnsafeSlow(HEADROOM + READ_BYTES + TAILROOM);
  /** Where reads land: `full` from {@link HEADROOM} on. */
  readonly landing = this.full.subarray(HEADROOM, HEADROOM + READ_BYTES);
}

/** Read buffers of a worker, last in first out. */
export class BufferPool {
  readonly #free: ReadBuffer[] = [];
  readonly #kept: number;
  readonly #fill: boolean;

  /**
   * Keeps at most `kept` free buffers. `fill` overwrites what is given back with 0xDB, so that a use after that shows
   * (debugging, stress tests).
   */
  constructor(kept = 256, fill = false) {
    this.#kept = kept;
    this.#fill = fill;
  }

  acquire(): ReadBuffer {
    return this.#free.pop() ?? new ReadBuffer();
  }

  release(buffer: ReadBuffer): void {
    if (this.#fill) buffer.full.fill(0xdb);
    if (this.#free.length < this.#kept) this.#free.push(buffer);
  }
}
