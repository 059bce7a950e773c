/**
 * Who owns the buffer that a connection reads into, in one place.
 *
 * - The pool owns a buffer until `acquire` hands it to a connection: one to a backend, or a client's while a body or a
 *   tunnel is read.
 * - The connection owns it while it reads into it and while the pieces that it has passed on are `WRITTEN`.
 * - A piece whose write is `PENDING` pins the whole buffer: it then belongs to that write. When the piece is not the
 *   last one of its message the connection waits for the end of the write and goes on with the buffer.
 * - When it is the last one (`Piece.pooled`) the connection goes on at once, with another buffer; the pinned one belongs
 *   to who has written it, and goes back to the pool when that is drained. Who cannot tell when that is, or whose
 *   connection breaks before, leaves it to the garbage collector.
 * - Nobody keeps a view of a buffer that it has released.
 *
 * In debug mode released buffers are filled with 0xDB and checked before they are used again, so that a view that was
 * kept shows as garbage in a response and a write that came late stops the test.
 */

/** Room before the bytes that are read: for a rewritten head or the size of a chunk. */
export const HEADROOM = 1024;
/** Most bytes of one read; measured best for bulk. */
export const READ_BYTES = 64 * 1024;
/** Room behind them: the end of a chunk and the last chunk. */
export const TAILROOM = 16;

const FILL = 0xdb;
/** 16 MiB of free buffers for each thread at most; what is released beyond goes to the garbage collector. */
const FREE_LIMIT = 256;

export class PooledBuffer {
  /** All of it, headroom first. */
  readonly full = Buffer.allocUnsafeSlow(HEADROOM + READ_BYTES + TAILROOM);
  /** What is given to `readInto`: reads land behind the headroom. */
  readonly landing = this.full.subarray(HEADROOM, HEADROOM + READ_BYTES);
  /** Kept by the pool. */
  isFree = false;
}

export class BufferPool {
  readonly #debug: boolean;
  readonly #free: PooledBuffer[] = [];

  constructor(options: { readonly debug: boolean }) {
    this.#debug = options.debug;
  }

  /** The last released one first: it is the likeliest to be in the processor's cache. */
  acquire(): PooledBuffer {
    const buffer = this.#free.pop();
    if (buffer === undefined) return new PooledBuffer();
    if (this.#debug) checkUntouched(buffer);
    buffer.isFree = false;
    return buffer;
  }

  /** Doing it twice is a bug that would give one buffer to two connections: the second time does nothing. */
  release(buffer: PooledBuffer): void {
    if (buffer.isFree) {
      if (this.#debug) throw new Error('a buffer was released twice');
      return;
    }
    buffer.isFree = true;
    if (this.#debug) buffer.full.fill(FILL);
    if (this.#free.length < FREE_LIMIT) this.#free.push(buffer);
  }
}

/** `TRICKSTER_DEBUG_BUFFERS=1` turns debug mode on; it costs a fill of 65 KiB for each release. */
export function debugBuffers(environment: Readonly<Record<string, string | undefined>>): boolean {
  return environment['TRICKSTER_DEBUG_BUFFERS'] === '1';
}

function checkUntouched({ full }: PooledBuffer): void {
  if (!full.every((byte) => byte === FILL)) throw new Error('a buffer was written to after its release');
}
