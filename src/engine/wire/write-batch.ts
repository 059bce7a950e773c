import { atTurnEnd, isTurnEnding, type TurnEndTask } from './turn-end.js';

/** Longer writes are not worth a copy. */
const MOST_BYTES = 4096;
/** What is copied before all of it is written. */
const ARENA_BYTES = 64 * 1024;
/** A turn with fewer writes gains less than the batch costs. */
const WORTHWHILE_WRITES = 8;
/** Writes that are made at once behind such a turn, before it is tried again. */
const SINGLE_WRITES = 64;
const FILL = 0xdb;

/** Whose writes wait. */
export interface BatchedWriter {
  /** One of its waiting writes, in their order. False: the bytes are needed for longer. */
  writeBatched(bytes: Buffer): boolean;
}

/**
 * Small writes of all connections, made together at the end of a turn of the event loop. Each of them may wake up a
 * process, or another processor, that has just gone to sleep; made one after the other they wake it up once.
 * With little to do that gains nothing, and writes are made at once.
 *
 * Ownership: the bytes are copied, so that the writer's buffer is free at once; the copies live until the flush. When
 * the kernel does not take all of one, the arena stays with that write and another one is used from then on.
 */
export class WriteBatch implements TurnEndTask {
  readonly #debug: boolean;
  #arena = Buffer.allocUnsafeSlow(ARENA_BYTES);
  #used = 0;
  #isDue = false;
  /** Writes of this turn. */
  #count = 0;
  /** Writes that are still to be made at once. */
  #singles = 0;
  readonly #writers: BatchedWriter[] = [];
  readonly #writes: Buffer[] = [];

  /** `debug` fills bytes that were written with 0xDB. */
  constructor({ debug }: { readonly debug: boolean }) {
    this.#debug = debug;
  }

  /** False: these bytes are the writer's to write; what it has here must go before them. */
  add(writer: BatchedWriter, bytes: Buffer): boolean {
    const { length } = bytes;
    if (length > MOST_BYTES || !this.#isWorthwhile(length)) return false;
    if (this.#used + length > ARENA_BYTES) this.flush();
    const start = this.#used;
    this.#arena.set(bytes, start);
    this.#used += length;
    this.#push(writer, this.#arena.subarray(start, this.#used));
    return true;
  }

  /** As `add`, for bytes that never change: they are not copied. */
  addConstant(writer: BatchedWriter, bytes: Buffer): boolean {
    if (!this.#isWorthwhile(bytes.length)) return false;
    this.#push(writer, bytes);
    return true;
  }

  #isWorthwhile(length: number): boolean {
    if (this.#singles > 0) {
      this.#singles--;
      return false;
    }
    return length > 0 && !isTurnEnding();
  }

  #push(writer: BatchedWriter, bytes: Buffer): void {
    this.#writers.push(writer);
    this.#writes.push(bytes);
    if (!this.#isDue) atTurnEnd(this);
    this.#isDue = true;
    this.#count++;
  }

  atTurnEnd(): void {
    this.#isDue = false;
    if (this.#count < WORTHWHILE_WRITES) this.#singles = SINGLE_WRITES;
    this.#count = 0;
    this.flush();
  }

  /** Everything that waits is written now. */
  flush(): void {
    let isFree = true;
    let i = 0;
    for (const writer of this.#writers) {
      const bytes = this.#writes[i++];
      if (bytes !== undefined && !writer.writeBatched(bytes)) isFree = false;
    }
    this.#writers.length = 0;
    this.#writes.length = 0;
    if (!isFree) this.#arena = Buffer.allocUnsafeSlow(ARENA_BYTES);
    else if (this.#debug) this.#arena.fill(FILL, 0, this.#used);
    this.#used = 0;
  }
}
