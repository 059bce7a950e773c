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
  /** Since the turn that was counted last: at least those of this turn. */
  #started = 0;

  constructor(perTurn = PER_TURN) {
    this.#perTurn = perTurn;
  }

  /** As {@link Connection.secure}, now or in a later turn; `received` is consumed within the call either way. */
  secure(connection: Connection, options: ServerTlsOptions, received: Buffer): void {
    if (this.#started < this.#perTurn) {
      // Who starts the last one makes the turns count; up to then nothing needs to be known of them.
      if (++this.#started === this.#perTurn) setImmediate(this.#nextTurn);
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
    if (due.length === this.#perTurn) setImmediate(this.#nextTurn);
    for (const start of due) start();
  };
}
