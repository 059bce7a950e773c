import { Timer, type TimerWheel } from './timer-wheel.js';

/**
 * The points in time that an exchange waits for, in ms of `performance.now()`; 0: not awaited. Made when something is
 * awaited, which most exchanges never do.
 */
export class Deadlines extends Timer {
  /** Of the whole request. */
  request = 0;
  attempt = 0;
  /** Of the attempt's response head. */
  head = 0;
  /** End of the pause before a retry. */
  retry = 0;
  readonly #wheel: TimerWheel;
  readonly #reached: (now: number) => void;

  /** `reached` is called when one of them may be over; it looks itself, and arms again. */
  constructor(wheel: TimerWheel, reached: (now: number) => void) {
    super();
    this.#wheel = wheel;
    this.#reached = reached;
  }

  /** Waits for the earliest. */
  arm(now: number): void {
    const due = earlier(earlier(this.request, this.attempt), earlier(this.head, this.retry));
    if (due > 0) this.#wheel.arm(this, Math.max(due - now, 0));
  }

  /** Nothing is awaited any more. */
  stop(): void {
    this.request = 0;
    this.attempt = 0;
    this.head = 0;
    this.retry = 0;
    this.#wheel.remove(this);
  }

  override expire(): void {
    this.#reached(performance.now());
  }
}

export function isDue(due: number, now: number): boolean {
  return due > 0 && due <= now;
}

/** The earlier of two points in time of which 0 is none. */
function earlier(a: number, b: number): number {
  return a === 0 || (b > 0 && b < a) ? b : a;
}
