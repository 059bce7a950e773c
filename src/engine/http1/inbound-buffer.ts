import type { Piece } from '../exchange/piece.js';
import type { Connection } from '../wire/wire.js';
import { HEADROOM, type PooledBuffer } from '../wire/buffer-pool.js';
import type { Http1Worker } from './http1-worker.js';

/**
 * Where a client connection reads: the landing that all share, or, while a body or a tunnel is read, a buffer of its own,
 * whose bytes may be lent to the exchange.
 */
export class InboundBuffer {
  own: PooledBuffer | undefined = undefined;
  /** The exchange has the bytes of the last piece until it asks for more. */
  lent = false;
  /** Bytes that were read but whose turn has not come. */
  ahead: Buffer | undefined = undefined;
  /** What {@link InboundBuffer.locate} found. */
  bytes: Buffer = EMPTY;
  from = 0;
  to = 0;
  /** The wire is no longer ours: it is not told where to read. */
  left = false;
  #reading = false;
  readonly #worker: Http1Worker;
  readonly #wire: Connection;

  constructor(worker: Http1Worker, wire: Connection) {
    this.#worker = worker;
    this.#wire = wire;
  }

  /** Everything that was read has been passed on and taken. */
  get idle(): boolean {
    return !this.lent && this.ahead === undefined;
  }

  /** Where the bytes of a read lie, what was kept before them included. */
  locate(buffer: Buffer, length: number): this {
    const { ahead, own } = this;
    if (ahead) {
      this.ahead = undefined;
      this.bytes = Buffer.concat([ahead, buffer.subarray(0, length)]);
    } else this.bytes = buffer === own?.landing ? own.full : buffer;
    this.from = this.bytes === own?.full ? HEADROOM : 0;
    this.to = this.from + length + (ahead?.length ?? 0);
    return this;
  }

  /** What was located is consumed. */
  forget(): void {
    this.bytes = EMPTY;
  }

  share(): void {
    if (!this.left) this.#wire.readInto(this.#worker.landing);
  }

  setReading(wanted: boolean): void {
    if (wanted === this.#reading) return;
    this.#reading = wanted;
    if (wanted) this.#wire.resume();
    else this.#wire.pause();
  }

  /** The piece ends what was read: in a buffer of our own the room around it is free. */
  giveRoom(piece: Piece): void {
    if (piece.buffer !== this.own?.full) return;
    piece.roomBefore = piece.start;
    piece.roomAfter = piece.buffer.length - piece.end;
  }

  take(): void {
    if (this.own) return;
    this.own = this.#worker.buffers.acquire();
    this.#wire.readInto(this.own.landing);
  }

  /** Nothing more of it is needed, unless it is lent. */
  giveBack(): void {
    const { own } = this;
    if (!own || this.lent) return;
    this.own = undefined;
    this.share();
    this.#worker.buffers.release(own);
  }

  /** The exchange is over, but the wire towards the backend may still have bytes of it: a lent buffer is left to it. */
  abandon(): void {
    if (!this.lent) return;
    this.lent = false;
    this.own = undefined;
    this.share();
  }
}

const EMPTY = Buffer.alloc(0);
