import type { BufferPool, PooledBuffer } from '../wire/buffer-pool.js';
import { Forwarder, type Direction, type ForwardedBytes } from '../wire/forwarder.js';
import type { Connection, ConnectionHandler, WireError } from '../wire/wire.js';

/** Hears of a side what is not bytes. */
export interface RelayOwner {
  sideConnected(side: RelaySide): void;
  sideEnded(side: RelaySide): void;
  sideClosed(side: RelaySide, error: WireError | undefined): void;
}

export interface RelaySideInit {
  readonly bytes: ForwardedBytes;
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
export class RelaySide extends Forwarder {
  readonly connection: Connection;
  /** The peer has sent FIN. */
  ended = false;
  closed = false;
  readonly #owner: RelayOwner;
  #buffer: PooledBuffer | undefined;

  constructor(owner: RelayOwner, { bytes, direction, connect }: RelaySideInit) {
    super(bytes, direction);
    this.#owner = owner;
    this.connection = connect(this);
  }

  /** Bytes may flow to `other` from now on; they do once the connection is resumed. */
  joinTo(other: Connection, buffers: BufferPool): void {
    this.forwardTo(other);
    this.#buffer = buffers.acquire();
    this.connection.readInto(this.#buffer.landing);
  }

  /** Both connections have closed. */
  release(buffers: BufferPool): void {
    if (this.#buffer) buffers.release(this.#buffer);
    this.#buffer = undefined;
  }

  protected override onBlocked(): void {
    this.connection.pause();
  }

  /** What was read from the other side has been taken here. */
  override onDrain(): void {
    this.to?.resume();
  }

  override onConnect(): void {
    this.#owner.sideConnected(this);
  }

  override onSecure(): void {
    // Handshakes with clients have ended before they get here.
  }

  override onEnd(): void {
    this.ended = true;
    this.#owner.sideEnded(this);
  }

  override onClose(error: WireError | undefined): void {
    this.closed = true;
    this.#owner.sideClosed(this, error);
  }
}
