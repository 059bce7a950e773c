import { Timer, type TimerWheel } from '../exchange/timer-wheel.js';

/** A connection as its watch sees it. */
export interface WatchedConnection {
  readonly closed: boolean;
  readonly stopped: boolean;
  readonly writer: { readonly failed: boolean };
  readonly streams: { readonly size: number };
  /** A message head is being received, or nothing was yet. */
  readonly awaitsHead: boolean;
  readonly hasBacklog: boolean;
  readonly sentBytes: number;
  readonly isDraining: boolean;
  /** Counts messages: a change is a sign of life. */
  readonly activity: number;
  /** Counts reads. */
  readonly reads: number;
  probe(): boolean;
  finish(): void;
  destroy(): void;
}

/** In ms. */
export interface WatchLimits {
  readonly headMs: number;
  readonly idleMs: number;
  readonly writeMs: number;
  readonly quietMs: number;
}

const LONGEST_PERIOD_MS = 2500;

/**
 * Looks at a connection now and then, so that its timeouts cost nothing while frames flow: a limit is met at most one
 * period late.
 */
export class ConnectionWatch extends Timer {
  readonly #connection: WatchedConnection;
  readonly #wheel: TimerWheel;
  readonly #limits: WatchLimits;
  readonly #periodMs: number;
  #headMs = 0;
  #idleMs = 0;
  #writeMs = 0;
  #quietMs = 0;
  #reads = 0;
  #sentBytes = 0;
  #activity = 0;
  #wasEnding = false;

  constructor(connection: WatchedConnection, wheel: TimerWheel, limits: WatchLimits) {
    super();
    this.#connection = connection;
    this.#wheel = wheel;
    this.#limits = limits;
    this.#periodMs = Math.min(LONGEST_PERIOD_MS, limits.headMs / 2, limits.idleMs / 2, limits.writeMs / 2);
  }

  start(): void {
    this.#wheel.arm(this, this.#periodMs);
  }

  stop(): void {
    this.#wheel.remove(this);
  }

  override expire(): void {
    const connection = this.#connection;
    if (connection.closed) return;
    if (this.#isOver()) connection.destroy();
    else this.#wheel.arm(this, this.#periodMs);
  }

  #isOver(): boolean {
    const connection = this.#connection;
    // A peer has one period to read the last frames and close.
    if (connection.writer.failed || (connection.stopped && this.#wasEnding)) return true;
    this.#wasEnding = connection.stopped;
    this.#headMs = connection.awaitsHead ? this.#headMs + this.#periodMs : 0;
    if (this.#headMs >= this.#limits.headMs) return true;
    const stalls = connection.hasBacklog && connection.sentBytes === this.#sentBytes;
    this.#sentBytes = connection.sentBytes;
    this.#writeMs = stalls ? this.#writeMs + this.#periodMs : 0;
    if (this.#writeMs >= this.#limits.writeMs) return true;
    const isQuiet = connection.streams.size > 0 && connection.reads === this.#reads;
    this.#reads = connection.reads;
    this.#quietMs = isQuiet ? this.#quietMs + this.#periodMs : 0;
    if (this.#quietMs >= this.#limits.quietMs) {
      this.#quietMs = 0;
      if (!connection.probe()) return true;
    }
    const idles = connection.streams.size === 0 && connection.activity === this.#activity;
    this.#activity = connection.activity;
    this.#idleMs = idles ? this.#idleMs + this.#periodMs : 0;
    // The client may not answer the PING of a drain: nothing is lost by ending what is idle.
    if (idles && (connection.isDraining || this.#idleMs >= this.#limits.idleMs)) connection.finish();
    return false;
  }
}
