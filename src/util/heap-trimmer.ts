import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

type Collect = (options: object) => void;

/**
 * Collects all garbage of this thread and gives the memory back to the system. V8 by itself keeps what a burst of work
 * took: pages of the young generation stay in a pool, and its memory reducer does not run in a process that it takes
 * for one in the foreground. The thread stands still meanwhile, some 4 ms for each MB in use.
 */
export function trimHeap(): void {
  // All threads share the flag, which may be asked for at any time: it is never taken back.
  setFlagsFromString('--expose-gc');
  // What the flag adds to a new context; a V8 without it keeps its memory.
  const collect = runInNewContext('globalThis.gc') as Collect | undefined;
  collect?.({ type: 'major', execution: 'sync', flavor: 'last-resort' });
}

/** A smaller heap is not worth a collection, nor is it when less could be won. */
const SMALL_HEAP_BYTES = 64e6;
const WORTHWHILE_BYTES = 32e6;

interface HeapSize {
  readonly total_heap_size: number;
  readonly used_heap_size: number;
}

/** What a test replaces. */
export interface TrimmedHeap {
  readonly size: () => HeapSize;
  readonly trim: () => void;
}

const THIS_HEAP: TrimmedHeap = { size: getHeapStatistics, trim: trimHeap };

export interface TrimTimes {
  /** A burst of work is over when nothing follows for so long. */
  readonly quietMs: number;
  /** Work that never pauses is interrupted after so long, or the heap would grow as far as V8 lets it. */
  readonly longestMs: number;
}

/** Trims the heap of a thread that works in bursts, when a burst is over, or goes on for long, and has left much behind. */
export class HeapTrimmer {
  readonly #times: TrimTimes;
  readonly #heap: TrimmedHeap;
  #timer: NodeJS.Timeout | undefined;
  /** When the burst began. */
  #since = 0;
  /** In use after the last time. */
  #live = 0;

  constructor(times: TrimTimes, heap = THIS_HEAP) {
    this.#times = times;
    this.#heap = heap;
  }

  /** Something was done. */
  worked(): void {
    const { quietMs, longestMs } = this.#times;
    const now = performance.now();
    if (this.#timer === undefined) {
      this.#since = now;
      this.#timer = setTimeout(() => {
        this.#timer = undefined;
        this.#trim();
      }, quietMs).unref();
    } else if (now - this.#since < longestMs) this.#timer.refresh();
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #trim(): void {
    const { size, trim } = this.#heap;
    // Half as much again is what a heap needs to work with.
    const limit = Math.max(SMALL_HEAP_BYTES, this.#live * 1.5 + WORTHWHILE_BYTES);
    if (size().total_heap_size < limit) return;
    trim();
    this.#live = size().used_heap_size;
  }
}
