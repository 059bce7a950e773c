import type { Connection, ServerTlsOptions } from '../wire.js';

/** A full handshake takes 0.3 ms of the loop: this many delay established connections by about a millisecond. */
const PER_TURN = 4;

/**
 * Spreads the start of server handshakes over turns of the event loop, first come first served, so that a flood of
 * new connections does not starve those that are established.
 */
export class HandshakeGate {
  readonly #perTurn: number;
  readonly #waiting: (() => void)[] = [];
  #started = 0;
  #scheduled = false;

  constructor(perTurn = PER_TURN) {
    this.#perTurn = perTurn;
  }

  /** As {@link Connection.secure}, now or in a later turn; `received` is consumed within the call either way. */
  secure(connection: Connection, options: ServerTlsOptions, received: Buffer): void {
    if (!this.#scheduled) {
      this.#scheduled = true;
      setImmediate(this.#nextTurn);
    }
    if (this.#started < this.#perTurn && this.#waiting.length === 0) {
      this.#started++;
      connection.secure(options, received);
      return;
    }
    const hello = Buffer.from(received);
    // Nothing of what follows the ClientHello may be taken for clear text.
    connection.pause();
    this.#waiting.push(() => {
      connection.secure(options, hello);
      connection.resume();
    });
  }

  readonly #nextTurn = (): void => {
    const due = this.#waiting.splice(0, this.#perTurn);
    this.#started = due.length;
    this.#scheduled = due.length > 0;
    if (this.#scheduled) setImmediate(this.#nextTurn);
    for (const start of due) start();
  };
}
