/** What a table needs of a stream. */
interface Numbered {
  readonly id: number;
}

/** A power of two. */
const INITIAL_SLOTS = 16;

/**
 * The open streams of a connection by their identifiers. Those of one peer are every second number and mostly near each
 * other, so the identifier itself is the place, and the next free one where that is taken.
 */
export class StreamTable<S extends Numbered> {
  #slots: (S | undefined)[] = emptySlots(INITIAL_SLOTS);
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get(id: number): S | undefined {
    return this.#slots[this.#find(id)];
  }

  /** Adds a stream whose identifier is not in the table yet. */
  add(stream: S): void {
    // At most half full: a search ends soon.
    if (this.#size * 2 >= this.#slots.length) this.#grow();
    this.#slots[this.#find(stream.id)] = stream;
    this.#size++;
  }

  /** @returns the stream that was there. */
  delete(id: number): S | undefined {
    const slots = this.#slots;
    let hole = this.#find(id);
    const stream = slots[hole];
    if (stream === undefined) return undefined;
    const mask = slots.length - 1;
    slots[hole] = undefined;
    this.#size--;
    // Streams that were put further for want of a place move back, so that no search meets the hole.
    for (let at = (hole + 1) & mask; ; at = (at + 1) & mask) {
      const other = slots[at];
      if (other === undefined) return stream;
      const distance = (at - (other.id >>> 1)) & mask;
      if (distance < ((at - hole) & mask)) continue;
      slots[hole] = other;
      slots[at] = undefined;
      hole = at;
    }
  }

  /** The streams now, in no order: the table may change meanwhile. */
  values(): S[] {
    return this.#slots.filter((stream) => stream !== undefined);
  }

  /** Where the stream is, or would be. */
  #find(id: number): number {
    const slots = this.#slots;
    const mask = slots.length - 1;
    let at = (id >>> 1) & mask;
    for (let other = slots[at]; other !== undefined && other.id !== id; other = slots[at])
      at = (at + 1) & mask;
    return at;
  }

  #grow(): void {
    const streams = this.values();
    this.#slots = emptySlots(this.#slots.length * 2);
    for (const stream of streams) this.#slots[this.#find(stream.id)] = stream;
  }
}

function emptySlots<S>(count: number): (S | undefined)[] {
  return Array.from({ length: count }, () => undefined);
}
