/** Full handshakes begun in one turn of the event loop: each costs about a third of a millisecond of the thread. */
const HANDSHAKES_PER_TURN = 8;

/**
 * Spreads TLS handshakes over turns of the event loop, so that a flood of them leaves time for the connections that
 * are established.
 */
export class HandshakeQueue {
  readonly #waiting: (() => void)[] = [];
  #startedThisTurn = 0;
  #scheduled = false;

  /** Starts now, or in a later turn, in order. */
  push(start: () => void): void {
    if (this.#waiting.length === 0 && this.#startedThisTurn < HANDSHAKES_PER_TURN) {
      this.#startedThisTurn += 1;
      this.#schedule();
      start();
      return;
    }
    this.#waiting.push(start);
    this.#schedule();
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      this.#startedThisTurn = 0;
      for (const start of this.#waiting.splice(0, HANDSHAKES_PER_TURN)) {
        this.#startedThisTurn += 1;
        start();
      }
      if (this.#waiting.length > 0) this.#schedule();
    });
  }
}
