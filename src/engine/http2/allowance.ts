/**
 * How much of something harmful-in-bulk a peer may do: `burst` at once and `perSecond` for ever. The clock is only
 * read when the allowance seems used up, so that what is harmless costs a decrement.
 */
export class Allowance {
  readonly #burst: number;
  readonly #perSecond: number;
  readonly #now: () => number;
  #left: number;
  #filledAt: number;

  /** @param now clock in ms. */
  constructor(burst: number, perSecond: number, now: () => number = () => performance.now()) {
    this.#burst = burst;
    this.#perSecond = perSecond;
    this.#now = now;
    this.#left = burst;
    this.#filledAt = now();
  }

  /** @returns false when the peer has gone too far. */
  spend(amount = 1): boolean {
    this.#left -= amount;
    return this.#left >= 0 || this.#refill();
  }

  /** The peer did something useful. */
  earn(amount: number): void {
    if (this.#left < this.#burst) this.#left = Math.min(this.#burst, this.#left + amount);
  }

  #refill(): boolean {
    const now = this.#now();
    this.#left = Math.min(this.#burst, this.#left + ((now - this.#filledAt) / 1000) * this.#perSecond);
    this.#filledAt = now;
    return this.#left >= 0;
  }
}
