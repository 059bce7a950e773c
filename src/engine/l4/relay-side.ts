import type { BufferPool, PooledBuffer } from '../wire/buffer-pool.js';
import { PENDING, type Connection, type ConnectionHandler, type WireError } from '../wire/wire.js';
import type { Direction } from './relay-services.js';

/** Hears of a side what is not bytes. */
export interface RelayOwner {
  sideConnected(side: RelaySide): void;
  sideEnded(side: RelaySide): void;
  sideClosed(side: RelaySide, error: WireError | undefined): void;
}

export interface RelaySideInit {
  readonly bytes: Float64Array;
  readonly direction: Direction;
  /** The connection, which wants its handler first. */
  readonly connect: (handler: ConnectionHandler) => Connection;
}

/**
 * One of the two connections of a relay: what it reads is written to the other one.
 *
 * It owns its buffer alone. A piece that the other side has not taken yet (`PENDING`) is not overwritten because
 * reading pauses until it has; the buffer goes back when both connections have closed, so nothing refers to it.
 */
export class RelaySide implements ConnectionHandler {
  readonly connection: Connection;
  /** The peer has sent FIN. */
  ended = false;
  closed = false;
  readonly #owner: RelayOwner;
  readonly #bytes: Float64Array;
  readonly #direction: Direction;
  #other: Connection | undefined;
  #buffer: PooledBuffer | undefined;

  constructor(owner: RelayOwner, { bytes, direction, connect }: RelaySideInit) {
    this.#owner = owner;
    this.#bytes = bytes;
    this.#direction = direction;
    this.connection = connect(this);
  }

  /** Bytes may flow to `other` from now on; they do once the connection is resumed. */
  joinTo(other: Connection, buffers: BufferPool): void {
    this.#other = other;
    this.#buffer = buffers.acquire();
    this.connection.readInto(this.#buffer.landing);
  }

  /** Both connections have closed. */
  release(buffers: BufferPool): void {
    if (this.#buffer) buffers.release(this.#buffer);
    this.#buffer = undefined;
  }

  onRead(buffer: Buffer, length: number): void {
    const other = this.#other;
    if (other === undefined) return;
    this.#bytes[this.#direction] = (this.#bytes[this.#direction] ?? 0) + length;
    const outcome = other.write(length === buffer.length ? buffer : buffer.subarray(0, length));
    if (outcome === PENDING) this.connection.pause();
  }

  /** What was read from the other side has been taken here. */
  onDrain(): void {
    this.#other?.resume();
  }

  onConnect(): void {
    this.#owner.sideConnected(this);
  }

  onSecure(): void {
    // Handshakes with clients have ended before they get here.
  }

  onEnd(): void {
    this.ended = true;
    this.#owner.sideEnded(this);
  }

  onClose(error: WireError | undefined): void {
    this.closed = true;
    this.#owner.sideClosed(this, error);
  }
}
