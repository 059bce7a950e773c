import { PENDING, type Connection, type ConnectionHandler, type WireError } from './wire.js';

/** Cells of {@link ForwardedBytes}. */
export const RECEIVED = 0;
export const SENT = 1;
export type Direction = typeof RECEIVED | typeof SENT;

/** What has been forwarded from the client ({@link RECEIVED}) and to it ({@link SENT}); two cells, for plain increments. */
export type ForwardedBytes = Float64Array;

/**
 * Handles a connection whose bytes belong to another one: what is read here is written there at once, from the buffer it
 * landed in. Nothing else happens for a message, which is what makes relays and tunnels cheap.
 *
 * A piece that the other connection has not taken yet (`PENDING`) pins the buffer: whoever extends this stops reading
 * until it has been taken.
 */
export abstract class Forwarder implements ConnectionHandler {
  readonly #bytes: ForwardedBytes;
  readonly #direction: Direction;
  #to: Connection | undefined;

  constructor(bytes: ForwardedBytes, direction: Direction) {
    this.#bytes = bytes;
    this.#direction = direction;
  }

  /** Where the bytes go; before it is known none are expected. */
  protected get to(): Connection | undefined {
    return this.#to;
  }

  protected forwardTo(to: Connection): void {
    this.#to = to;
  }

  onRead(buffer: Buffer, length: number): void {
    const to = this.#to;
    if (to === undefined) return;
    this.#bytes[this.#direction] = (this.#bytes[this.#direction] ?? 0) + length;
    // A connection that is gone tells so itself: `onClose` of its handler follows.
    if (to.write(length === buffer.length ? buffer : buffer.subarray(0, length)) === PENDING)
      this.onBlocked();
  }

  /** The piece that was read last is `PENDING`. */
  protected abstract onBlocked(): void;

  abstract onConnect(): void;
  abstract onSecure(): void;
  abstract onEnd(): void;
  abstract onDrain(): void;
  abstract onClose(error: WireError | undefined): void;
}
