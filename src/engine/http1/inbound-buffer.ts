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
  /** What was read and is to be looked at: `bytes[from, to)`. */
  bytes: Buffer = EMPTY;
  from = 0;
  to = 0;
  /** The wire is no longer ours: it is not told where to read. */
  #left = false;
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

  /** To be looked at: the bytes of a read, behind what was kept before them. */
  locate(buffer: Buffer, length: number): void {
    const { ahead, own } = this;
    if (ahead) {
      this.ahead = undefined;
      this.put(Buffer.concat([ahead, buffer.subarray(0, length)]));
      return;
    }
    this.bytes = buffer === own?.landing ? own.full : buffer;
    this.from = this.bytes === own?.full ? HEADROOM : 0;
    this.to = this.from + length;
  }

  /** To be looked at: what was kept. */
  locateAhead(): void {
    const { ahead } = this;
    this.ahead = undefined;
    if (ahead) this.put(ahead);
  }

  /** To be looked at: these bytes. */
  put(bytes: Buffer): void {
    this.bytes = bytes;
    this.from = 0;
    this.to = bytes.length;
  }

  /** Nobody looks at the rest. */
  skip(): void {
    this.bytes = EMPTY;
    this.from = 0;
    this.to = 0;
  }

  /** The rest, copied, for somebody else. */
  takeRest(): Buffer {
    const rest = Buffer.from(this.bytes.subarray(this.from, this.to));
    this.skip();
    return rest;
  }

  /** The rest waits for its turn. */
  keepRest(): void {
    if (this.from < this.to) this.ahead = this.takeRest();
    else this.skip();
  }

  share(): void {
    if (!this.#left) this.#wire.readInto(this.#worker.landing);
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

  /** The wire is somebody else's, or gone. */
  leave(): void {
    this.#left = true;
    this.ahead = undefined;
    this.abandon();
  }
}

const EMPTY = Buffer.alloc(0);
