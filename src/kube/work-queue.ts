import type { Clock } from '../util/clock.js';

export interface WorkQueueOptions<V> {
  /** Answers when to try again, in milliseconds, or nothing when it is done. It must not reject. */
  readonly handle: (key: string, value: V) => Promise<number | undefined>;
  readonly concurrency: number;
  /** Keys that go before all others. */
  readonly isUrgent?: (key: string) => boolean;
  readonly clock: Clock;
}

/**
 * Work by key. A newer value replaces one that waits; one key is never handled twice at the same time; a retry is
 * made with the newest value.
 */
export class WorkQueue<V> {
  readonly #options: WorkQueueOptions<V>;
  /** Each in the order in which it is handled. */
  readonly #urgent = new Map<string, V>();
  readonly #waiting = new Map<string, V>();
  readonly #active = new Set<string>();
  /** Keys that wait for a retry. */
  readonly #delayed = new Map<string, AbortController>();
  #idle: (() => void)[] = [];
  #stopped = false;

  constructor(options: WorkQueueOptions<V>) {
    this.#options = options;
  }

  /** Keys that wait, are handled or wait for a retry. */
  get size(): number {
    const keys = [this.#urgent, this.#waiting, this.#delayed, this.#active].flatMap((all) => [...all.keys()]);
    return new Set(keys).size;
  }

  add(key: string, value: V): void {
    if (this.#stopped) return;
    this.#laneOf(key).set(key, value);
    this.#next();
  }

  /** Forgets work that has not begun. */
  remove(key: string): void {
    this.#forget(key);
    this.#next();
  }

  clear(): void {
    this.retain(() => false);
  }

  /** Forgets work of other keys that has not begun. */
  retain(keeps: (key: string) => boolean): void {
    for (const lane of [this.#urgent, this.#waiting, this.#delayed]) {
      for (const key of [...lane.keys()]) {
        if (!keeps(key)) this.#forget(key);
      }
    }
    this.#next();
  }

  /** Resolves when nothing waits and nothing is being done. */
  idle(): Promise<void> {
    if (this.#isIdle()) return Promise.resolve();
    return new Promise((resolve) => {
      this.#idle.push(resolve);
    });
  }

  stop(): void {
    this.#stopped = true;
    this.clear();
  }

  #isIdle(): boolean {
    return this.#urgent.size + this.#waiting.size + this.#active.size + this.#delayed.size === 0;
  }

  #laneOf(key: string): Map<string, V> {
    return this.#options.isUrgent?.(key) === true ? this.#urgent : this.#waiting;
  }

  #forget(key: string): void {
    this.#laneOf(key).delete(key);
    this.#delayed.get(key)?.abort();
    this.#delayed.delete(key);
  }

  #next(): void {
    this.#begin(this.#urgent);
    this.#begin(this.#waiting);
    if (!this.#isIdle()) return;
    const idle = this.#idle;
    this.#idle = [];
    for (const resolve of idle) resolve();
  }

  #begin(lane: Map<string, V>): void {
    for (const [key, value] of lane) {
      if (this.#active.size >= this.#options.concurrency) return;
      if (this.#active.has(key) || this.#delayed.has(key)) continue;
      lane.delete(key);
      void this.#run(key, value);
    }
  }

  async #run(key: string, value: V): Promise<void> {
    this.#active.add(key);
    const retryMs = await this.#options.handle(key, value);
    this.#active.delete(key);
    if (retryMs !== undefined && !this.#stopped) void this.#retry(key, value, retryMs);
    this.#next();
  }

  async #retry(key: string, value: V, ms: number): Promise<void> {
    const abort = new AbortController();
    this.#delayed.set(key, abort);
    await this.#options.clock.sleep(ms, abort.signal);
    if (abort.signal.aborted) return;
    this.#delayed.delete(key);
    const lane = this.#laneOf(key);
    // A newer value that came meanwhile stays.
    if (!lane.has(key)) lane.set(key, value);
    this.#next();
  }
}
