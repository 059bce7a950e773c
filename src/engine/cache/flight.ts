import type { Exchange } from '../exchange/exchange.js';
import { Timer, type TimerWheel } from '../exchange/timer-wheel.js';
import type { StoredResponse } from './stored-response.js';

/** What becomes of a request that waited for another's answer. */
interface WaiterOutcome {
  /** Serve this; false when it may not be served to this request. */
  serve(stored: StoredResponse): boolean;
  /** Ask the backend for this request alone. */
  fetchAlone(): void;
  /** Ask the backend for all who wait. */
  lead(): void;
}

class Waiter extends Timer {
  readonly exchange: Exchange;
  readonly outcome: WaiterOutcome;
  readonly #flight: Flight;

  constructor(flight: Flight, exchange: Exchange, outcome: WaiterOutcome) {
    super();
    this.#flight = flight;
    this.exchange = exchange;
    this.outcome = outcome;
  }

  /** It waited long enough: a slow leader must not slow down everybody. */
  override expire(): void {
    this.#flight.leave(this);
    if (!this.exchange.closed) this.outcome.fetchAlone();
  }
}

export interface FlightLimits {
  readonly timers: TimerWheel;
  readonly waitMs: number;
  readonly mostWaiters: number;
}

/**
 * One fetch of a key on behalf of several requests. Its leader talks to the backend; the others wait until there is a
 * stored response, until it is clear that there will be none, or until their time is over.
 */
export class Flight {
  readonly #limits: FlightLimits;
  readonly #onEnd: () => void;
  readonly #waiters = new Set<Waiter>();

  constructor(limits: FlightLimits, onEnd: () => void) {
    this.#limits = limits;
    this.#onEnd = onEnd;
  }

  get isAwaited(): boolean {
    return this.#next() !== undefined;
  }

  /** False: too many wait already. */
  join(exchange: Exchange, outcome: WaiterOutcome): boolean {
    if (this.#waiters.size >= this.#limits.mostWaiters) return false;
    const waiter = new Waiter(this, exchange, outcome);
    this.#waiters.add(waiter);
    this.#limits.timers.arm(waiter, this.#limits.waitMs);
    return true;
  }

  leave(waiter: Waiter): void {
    this.#waiters.delete(waiter);
  }

  /** The response is stored, and everyone may look at it. */
  settle(stored: StoredResponse): void {
    for (const { outcome } of this.#end()) if (!outcome.serve(stored)) outcome.fetchAlone();
  }

  /** There is nothing to share. */
  dissolve(): void {
    for (const { outcome } of this.#end()) outcome.fetchAlone();
  }

  /** The leader is gone without an answer: the one that waits longest takes its place. */
  handOver(): void {
    const next = this.#next();
    if (!next) {
      this.#end();
      return;
    }
    this.leave(next);
    this.#limits.timers.remove(next);
    next.outcome.lead();
  }

  /** The one that has waited longest and whose client is still there. */
  #next(): Waiter | undefined {
    for (const waiter of this.#waiters) if (!waiter.exchange.closed) return waiter;
    return undefined;
  }

  /** Those who still wait; nobody can join any more. */
  #end(): readonly Waiter[] {
    this.#onEnd();
    const waiters = [...this.#waiters];
    this.#waiters.clear();
    for (const waiter of waiters) this.#limits.timers.remove(waiter);
    return waiters.filter(({ exchange }) => !exchange.closed);
  }
}
