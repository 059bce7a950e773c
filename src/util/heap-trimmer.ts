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

/** Less than this is not worth a collection. */
const WORTHWHILE_BYTES = 64e6;

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

/** Trims the heap of a thread that works in bursts, when a burst is over and has left much behind. */
export class HeapTrimmer {
  readonly #quietMs: number;
  readonly #heap: TrimmedHeap;
  #timer: NodeJS.Timeout | undefined;
  /** In use after the last time. */
  #live = 0;

  constructor(quietMs: number, heap = THIS_HEAP) {
    this.#quietMs = quietMs;
    this.#heap = heap;
  }

  /** Something was done: the burst is over when nothing follows for the quiet time. */
  worked(): void {
    if (this.#timer) this.#timer.refresh();
    else
      this.#timer = setTimeout(() => {
        this.#trim();
      }, this.#quietMs).unref();
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #trim(): void {
    const { size, trim } = this.#heap;
    // Half as much again is what a heap needs to work with.
    if (size().total_heap_size < this.#live * 1.5 + WORTHWHILE_BYTES) return;
    trim();
    this.#live = size().used_heap_size;
  }
}
