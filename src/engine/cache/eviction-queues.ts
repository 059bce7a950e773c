import { GhostSet } from './ghost-set.js';

/** What the queues know of an object. */
export class QueuedObject {
  readonly key: string;
  readonly size: number;
  /** Uses since it came or was last passed over, at most 3. */
  uses = 0;
  queue: FifoQueue | undefined = undefined;
  older: QueuedObject | undefined = undefined;
  newer: QueuedObject | undefined = undefined;

  constructor(key: string, size: number) {
    this.key = key;
    this.size = size;
  }
}

/** A queue that knows its bytes and lets go of any member at once. */
class FifoQueue {
  oldest: QueuedObject | undefined;
  #newest: QueuedObject | undefined;
  bytes = 0;

  push(object: QueuedObject): void {
    object.queue = this;
    object.older = this.#newest;
    if (this.#newest) this.#newest.newer = object;
    else this.oldest = object;
    this.#newest = object;
    this.bytes += object.size;
  }

  remove(object: QueuedObject): void {
    if (object.older) object.older.newer = object.newer;
    else this.oldest = object.newer;
    if (object.newer) object.newer.older = object.older;
    else this.#newest = object.older;
    object.older = undefined;
    object.newer = undefined;
    object.queue = undefined;
    this.bytes -= object.size;
  }
}

const MOST_USES = 3;
/** Share of the bytes that objects which were not used again may take. */
const SMALL_SHARE = 0.1;

/**
 * Which object has to go next: S3-FIFO (Yang et al., SOSP 2023). New objects wait in a small queue and go from it
 * unless they were used meanwhile, so a scan passes through without washing out what is in use. A use costs one
 * increment.
 */
export class EvictionQueues<T extends QueuedObject> {
  readonly #small = new FifoQueue();
  readonly #main = new FifoQueue();
  readonly #ghosts = new GhostSet();

  add(object: T): void {
    (this.#ghosts.has(object.key) ? this.#main : this.#small).push(object);
  }

  use(object: T): void {
    if (object.uses < MOST_USES) object.uses++;
  }

  remove(object: T): void {
    object.queue?.remove(object);
  }

  /** The object to throw out, already out of the queues; undefined when there is none. */
  evict(): QueuedObject | undefined {
    for (;;) {
      const total = this.#small.bytes + this.#main.bytes;
      const isSmallFull = this.#small.bytes > total * SMALL_SHARE || !this.#main.oldest;
      const queue = isSmallFull && this.#small.oldest ? this.#small : this.#main;
      const object = queue.oldest;
      if (!object) return undefined;
      queue.remove(object);
      if (!this.#isKept(object, queue)) return object;
    }
  }

  #isKept(object: QueuedObject, queue: FifoQueue): boolean {
    if (object.uses === 0) {
      if (queue === this.#small) this.#ghosts.add(object.key);
      return false;
    }
    object.uses = queue === this.#small ? 0 : object.uses - 1;
    this.#main.push(object);
    return true;
  }
}
