import type { Clock } from '../util/clock.js';

export interface WorkQueueOptions<V> {
  /** Answers when to try again, in milliseconds, or nothing when it is done. It must not reject. */
  readonly handle: (key: string, value: V) => Promise<number | undefined>;
  readonly concurrency: number;
  readonly clock: Clock;
}

/**
 * Work by key. A newer value replaces one that waits; one key is never handled twice at the same time; a retry is
 * made with the newest value.
 */
export class WorkQueue<V> {
  readonly #options: WorkQueueOptions<V>;
  /** In the order in which they are handled. */
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
    return new Set([...this.#waiting.keys(), ...this.#active, ...this.#delayed.keys()]).size;
  }

  add(key: string, value: V): void {
    if (this.#stopped) return;
    this.#waiting.set(key, value);
    this.#next();
  }

  /** Forgets work that has not begun. */
  remove(key: string): void {
    this.#waiting.delete(key);
    this.#delayed.get(key)?.abort();
    this.#delayed.delete(key);
    this.#next();
  }

  clear(): void {
    this.retain(() => false);
  }

  /** Forgets work of other keys that has not begun. */
  retain(keeps: (key: string) => boolean): void {
    for (const key of [...this.#waiting.keys(), ...this.#delayed.keys()]) {
      if (!keeps(key)) this.remove(key);
    }
  }

  /** Resolves when nothing waits and nothing is being done. */
  idle(): Promise<void> {
    if (this.size === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.#idle.push(resolve);
    });
  }

  stop(): void {
    this.#stopped = true;
    this.clear();
  }

  #next(): void {
    for (const [key, value] of this.#waiting) {
      if (this.#active.size >= this.#options.concurrency) return;
      if (this.#active.has(key) || this.#delayed.has(key)) continue;
      this.#waiting.delete(key);
      void this.#run(key, value);
    }
    if (this.size > 0) return;
    const idle = this.#idle;
    this.#idle = [];
    for (const resolve of idle) resolve();
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
    // A newer value that came meanwhile stays.
    if (!this.#waiting.has(key)) this.#waiting.set(key, value);
    this.#next();
  }
}
