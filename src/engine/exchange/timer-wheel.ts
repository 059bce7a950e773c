/** A point in time that somebody waits for: a connection, an exchange. Intrusive, so arming allocates nothing. */
export abstract class Timer {
  /** Tick at which it expires; 0: not armed. Owned by the wheel. */
  dueTick = 0;
  /** Tick of the slot that holds it. Owned by the wheel. */
  slotTick = 0;
  previousTimer: Timer | undefined = undefined;
  nextTimer: Timer | undefined = undefined;

  /** The time has come; the timer is no longer armed. */
  abstract expire(): void;
}

/** Head of a slot's ring. */
class Ring extends Timer {
  override expire(): void {
    // A ring is never armed.
  }
}

const SLOTS = 512;

/**
 * All timeouts of a worker on one coarse clock: no timer of the runtime per request. Arming again for later, which is
 * what keep-alive connections do all the time, only writes a number: the slot is looked at when its turn comes.
 */
export class TimerWheel {
  readonly #tickMs: number;
  readonly #rings: readonly Ring[];
  #tick = 1;
  readonly #originMs: number;
  #interval: NodeJS.Timeout | undefined;
  readonly #now: () => number;

  /** `now` is monotonic, in ms. */
  constructor(tickMs = 20, now: () => number = () => performance.now()) {
    this.#tickMs = tickMs;
    this.#now = now;
    this.#originMs = now() - tickMs;
    this.#rings = Array.from({ length: SLOTS }, () => {
      const ring = new Ring();
      ring.previousTimer = ring;
      ring.nextTimer = ring;
      return ring;
    });
  }

  /** Begins to tick. The wheel does not keep the process alive. */
  start(): void {
    this.#interval ??= setInterval(() => {
      this.advance();
    }, this.#tickMs).unref();
  }

  stop(): void {
    clearInterval(this.#interval);
    this.#interval = undefined;
  }

  /** Expires in `ms`, at most one tick late, never early; an earlier arming is replaced. */
  arm(timer: Timer, ms: number): void {
    // One tick more, since the current one has partly passed.
    const due = this.#tick + Math.ceil(ms / this.#tickMs) + 1;
    timer.dueTick = due;
    if (timer.slotTick !== 0) {
      if (timer.slotTick <= due) return;
      unlink(timer);
    }
    this.#link(timer, due);
  }

  /** Cheap for timers that are armed again soon: the entry is dropped when its slot comes. */
  disarm(timer: Timer): void {
    timer.dueTick = 0;
  }

  /** For timers that are thrown away: nothing refers to it any more. */
  remove(timer: Timer): void {
    timer.dueTick = 0;
    if (timer.slotTick !== 0) unlink(timer);
  }

  /** Expires everything that is due by now. Called by the interval; tests call it. */
  advance(): void {
    const target = Math.floor((this.#now() - this.#originMs) / this.#tickMs);
    // After a long stall every slot needs one visit, not one per tick that was missed.
    if (target - this.#tick > SLOTS) this.#tick = target - SLOTS;
    while (this.#tick < target) {
      this.#tick++;
      this.#visit(this.#tick);
    }
  }

  #visit(tick: number): void {
    const ring = this.#rings[tick % SLOTS];
    if (!ring) return;
    let timer = ring.nextTimer;
    if (timer === ring) return;
    // Taken out as a chain first: what expires may arm others, in this slot too.
    const first = timer;
    if (ring.previousTimer) ring.previousTimer.nextTimer = undefined;
    ring.previousTimer = ring;
    ring.nextTimer = ring;
    for (timer = first; timer;) {
      const next: Timer | undefined = timer.nextTimer;
      timer.nextTimer = undefined;
      timer.previousTimer = undefined;
      timer.slotTick = 0;
      pending.push(timer);
      timer = next;
    }
    for (const due of pending.splice(0)) this.#settle(due);
  }

  #settle(timer: Timer): void {
    // Removed or armed anew by one that expired before it.
    if (timer.dueTick === 0 || timer.slotTick !== 0) return;
    if (timer.dueTick > this.#tick) {
      this.#link(timer, timer.dueTick);
      return;
    }
    timer.dueTick = 0;
    timer.expire();
  }

  #link(timer: Timer, due: number): void {
    const slotTick = Math.min(due, this.#tick + SLOTS - 1);
    const ring = this.#rings[slotTick % SLOTS];
    if (!ring) return;
    timer.slotTick = slotTick;
    const last = ring.previousTimer ?? ring;
    timer.previousTimer = last;
    timer.nextTimer = ring;
    last.nextTimer = timer;
    ring.previousTimer = timer;
  }
}

/** Scratch of the visit in progress. */
const pending: Timer[] = [];

function unlink(timer: Timer): void {
  if (timer.previousTimer) timer.previousTimer.nextTimer = timer.nextTimer;
  if (timer.nextTimer) timer.nextTimer.previousTimer = timer.previousTimer;
  timer.previousTimer = undefined;
  timer.nextTimer = undefined;
  timer.slotTick = 0;
}
