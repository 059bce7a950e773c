import { debugBuffers } from '../wire/buffer-pool.js';

/** Size of every pooled buffer. */
export const POOLED_LENGTH = 65_536;
const KEPT = 64;

/**
 * Buffers of one thread that connections borrow while they have something to send or to hold. The borrower is the
 * only one that may touch a buffer until it is given back.
 */
class BufferPool {
  readonly #free: Buffer[] = [];
  readonly #fillsReleased: boolean;

  /** @param fillsReleased fill returned buffers with 0xDB, so that a use after release shows. */
  constructor(fillsReleased: boolean) {
    this.#fillsReleased = fillsReleased;
  }

  take(): Buffer {
    return this.#free.pop() ?? Buffer.allocUnsafeSlow(POOLED_LENGTH);
  }

  /** Takes back any buffer; those of another size are left to the garbage collector. */
  release(buffer: Buffer): void {
    if (this.#fillsReleased) buffer.fill(0xdb);
    if (buffer.length === POOLED_LENGTH && this.#free.length < KEPT) this.#free.push(buffer);
  }
}

/** The pool of this thread. `TRICKSTER_DEBUG_BUFFERS=1` makes it fill what is released. */
export const bufferPool = new BufferPool(debugBuffers(process.env));
