import type { PooledBuffer } from '../wire/buffer-pool.js';

/**
 * A run of body bytes on its way through an exchange: decoded payload, never chunk framing or DATA frame heads.
 *
 * A piece is a view that its producer owns and fills again for the next run; nobody keeps one. Its bytes may be
 * read during the call it is passed to, and:
 * - when the callee answers `WRITTEN`, it is done with them;
 * - when the callee answers `PENDING`, they belong to the callee until it asks for more (`resume`, `resumeBody`,
 *   `onUpstreamDrain`): the producer neither changes the buffer nor produces another piece until then;
 * - when the callee answers `FAILED`, nobody wants any more of them.
 *
 * `roomBefore` and `roomAfter` bytes on either side of the run may be overwritten by the callee, so that a codec
 * can put its framing around the payload without copying it. A producer whose buffer holds something else there
 * says 0.
 */
export class Piece {
  buffer: Buffer = EMPTY;
  start = 0;
  end = 0;
  roomBefore = 0;
  roomAfter = 0;
  /** Nothing follows: no byte and no trailer section. */
  last = false;
  /**
   * What the bytes of a last piece lie in, when it comes from the pool: whoever answers `PENDING` to it owns this and may
   * give it back to the pool when they have left.
   */
  pooled: PooledBuffer | undefined = undefined;

  get length(): number {
    return this.end - this.start;
  }

  /** Makes the piece a view of `buffer[start, end)` without room around it. */
  set(buffer: Buffer, start: number, end: number, last: boolean): this {
    this.buffer = buffer;
    this.start = start;
    this.end = end;
    this.roomBefore = 0;
    this.roomAfter = 0;
    this.last = last;
    this.pooled = undefined;
    return this;
  }

  /** Makes the piece a part of a buffer of the pool in which nobody needs anything else. */
  setPooled(pooled: PooledBuffer, start: number, end: number, last: boolean): this {
    const { full } = pooled;
    this.set(full, start, end, last);
    this.roomBefore = start;
    this.roomAfter = full.length - end;
    if (last) this.pooled = pooled;
    return this;
  }

  /** Makes the piece empty. */
  clear(last: boolean): this {
    return this.set(EMPTY, 0, 0, last);
  }

  /** The bytes, shared. */
  view(): Buffer {
    const { buffer, start, end } = this;
    // A new view costs as much as a small copy.
    return start === 0 && end === buffer.length ? buffer : buffer.subarray(start, end);
  }

  /** The bytes, copied: for those who keep them. */
  copy(): Buffer {
    return Buffer.from(this.view());
  }
}

const EMPTY = Buffer.alloc(0);
