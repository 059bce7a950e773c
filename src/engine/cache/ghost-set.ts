const CAPACITY = 16_384;

/**
 * The keys that were thrown out last, as hashes in a ring: it only has to be right most of the time, and must not
 * cost the memory that was just freed.
 */
export class GhostSet {
  readonly #ring = new Uint32Array(CAPACITY);
  /** Hash → position in the ring. */
  readonly #positions = new Map<number, number>();
  #next = 0;

  add(key: string): void {
    const hash = hashOf(key);
    const replaced = this.#ring[this.#next] ?? 0;
    if (this.#positions.get(replaced) === this.#next) this.#positions.delete(replaced);
    this.#ring[this.#next] = hash;
    this.#positions.set(hash, this.#next);
    this.#next = (this.#next + 1) % CAPACITY;
  }

  has(key: string): boolean {
    return this.#positions.has(hashOf(key));
  }
}

/** FNV-1a, 32 bits. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return hash >>> 0;
}
