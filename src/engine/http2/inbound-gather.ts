import { Piece } from '../exchange/piece.js';
import { bufferPool } from './buffer-pool.js';

/** Room before and after the payload: a codec puts a head or a chunk's framing there. */
const ROOM = 1024;
const ROOM_AFTER = 16;

/**
 * Payload on its way from a connection's read buffer to an exchange. The read buffer is shared by all connections of
 * the thread, so payload is moved here first; consecutive DATA frames of one stream become one piece. One gather
 * serves the whole thread: it is empty whenever the event loop turns.
 */
class InboundGather {
  readonly #piece = new Piece();
  #buffer = bufferPool.take();
  #end = ROOM;

  /** @returns how many bytes of `[start, end)` found room. */
  append(source: Buffer, start: number, end: number): number {
    const taken = Math.min(end - start, this.#buffer.length - ROOM_AFTER - this.#end);
    source.copy(this.#buffer, this.#end, start, start + taken);
    this.#end += taken;
    return taken;
  }

  /** Everything since the last call, as one piece; appending starts anew. */
  finish(last: boolean): Piece {
    const piece = this.#piece.set(this.#buffer, ROOM, this.#end, last);
    piece.roomBefore = ROOM;
    piece.roomAfter = this.#buffer.length - this.#end;
    this.#end = ROOM;
    return piece;
  }

  /** Forgets everything since the last call of {@link finish}. */
  clear(): void {
    this.#end = ROOM;
  }

  /** The last piece's buffer belongs to someone else now. */
  giveAway(): void {
    this.#buffer = bufferPool.take();
  }
}

/** The gather of this thread. */
export const inboundGather = new InboundGather();
