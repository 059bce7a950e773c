import type { Clock } from '../util/clock.js';

export interface RateLimit {
  readonly perSecond: number;
  /** How many may go at once after a pause. */
  readonly burst: number;
}

/** Client-side rate limit. */
export class TokenBucket {
  readonly #limit: RateLimit;
  readonly #clock: Clock;
  #tokens: number;
  #filledAt: number;

  constructor(limit: RateLimit, clock: Clock) {
    this.#limit = limit;
    this.#clock = clock;
    this.#tokens = limit.burst;
    this.#filledAt = clock.now();
  }

  tryTake(): boolean {
    this.#fill();
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }

  /** Resolves in the order of the calls, when there is a token, or when the signal is aborted. */
  async take(signal: AbortSignal): Promise<void> {
    this.#fill();
    // Taken on credit: who comes later waits for longer.
    this.#tokens -= 1;
    if (this.#tokens < 0) await this.#clock.sleep((-this.#tokens / this.#limit.perSecond) * 1000, signal);
  }

  #fill(): void {
    const now = this.#clock.now();
    const { perSecond, burst } = this.#limit;
    this.#tokens = Math.min(burst, this.#tokens + (Math.max(0, now - this.#filledAt) / 1000) * perSecond);
    this.#filledAt = now;
  }
}
