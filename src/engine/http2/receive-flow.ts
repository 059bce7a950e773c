import { DEFAULT_WINDOW } from './frame.js';
import type { FrameWriter } from './frame-writer.js';

/** Receive window of the connection: never what holds a stream back. */
const CONNECTION_WINDOW = 16 * 1024 * 1024;
/** What all receive windows may grow together beyond their initial size, and one stream's alone. */
const GROWTH = 1_835_008;
const MAX_STREAM_WINDOW = 1_048_576;

/**
 * What a peer may send on one connection (RFC 9113 §5.2): the window of the connection, and how far those of its
 * streams may grow.
 */
export class ReceiveFlow {
  readonly #writer: Pick<FrameWriter, 'windowUpdate'>;
  #window = CONNECTION_WINDOW;
  /** Received since the peer was last told. */
  #credit = 0;
  /** By how much the windows of the open streams have grown. */
  #grown = 0;

  constructor(writer: Pick<FrameWriter, 'windowUpdate'>) {
    this.#writer = writer;
  }

  /** Opens the window of the connection to its full size: a part of our preface. */
  open(): void {
    this.#writer.windowUpdate(0, CONNECTION_WINDOW - DEFAULT_WINDOW);
  }

  /** @returns false when the peer has sent more than it may. */
  receive(length: number): boolean {
    this.#window -= length;
    if (this.#window < 0) return false;
    this.#credit += length;
    if (this.#credit * 2 >= CONNECTION_WINDOW) {
      this.#writer.windowUpdate(0, this.#credit);
      this.#window += this.#credit;
      this.#credit = 0;
    }
    return true;
  }

  /** The window of a stream, of which the peer may fill `limit` bytes, grows. @returns by how much. */
  grow(limit: number): number {
    const growth = Math.min(limit, MAX_STREAM_WINDOW - limit, GROWTH - this.#grown);
    if (growth <= 0) return 0;
    this.#grown += growth;
    return growth;
  }

  /** A stream whose window had grown to `limit` has ended. */
  release(limit: number): void {
    this.#grown -= limit - DEFAULT_WINDOW;
  }
}
