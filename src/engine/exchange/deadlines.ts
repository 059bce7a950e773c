import { Timer, type TimerWheel } from './timer-wheel.js';

/** Whoever waits. */
export interface DeadlineOwner {
  /** One of them may be over: the owner looks which, and arms again. */
  onDeadline(deadlines: Deadlines, now: number): void;
}

/** The points in time that an exchange waits for, in ms of `performance.now()`; 0: not awaited. */
export class Deadlines extends Timer {
  /** Of the whole request. */
  request = 0;
  attempt = 0;
  /** Of the attempt's response head. */
  head = 0;
  /** End of the pause before a retry. */
  retry = 0;
  owner: DeadlineOwner | undefined = undefined;

  override expire(): void {
    this.owner?.onDeadline(this, performance.now());
  }
}

/** More than these wait at the same time only in a burst. */
const MOST_KEPT = 1024;

/**
 * Lends deadlines to exchanges, one after the other: in the wheel they stay where they are, so that the next exchange
 * arms them by writing a number.
 */
export class DeadlinePool {
  readonly #wheel: TimerWheel;
  readonly #free: Deadlines[] = [];

  constructor(wheel: TimerWheel) {
    this.#wheel = wheel;
  }

  take(owner: DeadlineOwner): Deadlines {
    const deadlines = this.#free.pop() ?? new Deadlines();
    deadlines.owner = owner;
    return deadlines;
  }

  /** Waits for the earliest. */
  arm(deadlines: Deadlines, now: number): void {
    const { request, attempt, head, retry } = deadlines;
    const due = earlier(earlier(request, attempt), earlier(head, retry));
    if (due > 0) this.#wheel.arm(deadlines, Math.max(due - now, 0));
  }

  /** Nothing is awaited any more. */
  give(deadlines: Deadlines): void {
    deadlines.owner = undefined;
    deadlines.request = 0;
    deadlines.attempt = 0;
    deadlines.head = 0;
    deadlines.retry = 0;
    if (this.#free.length < MOST_KEPT) {
      this.#wheel.disarm(deadlines);
      this.#free.push(deadlines);
    } else this.#wheel.remove(deadlines);
  }
}

export function isDue(due: number, now: number): boolean {
  return due > 0 && due <= now;
}

/** The earlier of two points in time of which 0 is none. */
function earlier(a: number, b: number): number {
  return a === 0 || (b > 0 && b < a) ? b : a;
}
