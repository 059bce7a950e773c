/** A small seeded generator (mulberry32) of numbers in [0, 1), so that a failing run can be repeated. */
export function seededRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let value = Math.imul(state ^ (state >>> 15), 1 | state);
    value = (value + Math.imul(value ^ (value >>> 7), 61 | value)) ^ value;
    return ((value ^ (value >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** Dice of one run. */
export class Dice {
  readonly #random: () => number;

  constructor(seed: number) {
    this.#random = seededRandom(seed);
  }

  /** 0 to `sides` - 1. */
  roll(sides: number): number {
    return Math.floor(this.#random() * sides);
  }

  /** True in `percent` of 100 cases. */
  chance(percent: number): boolean {
    return this.#random() * 100 < percent;
  }

  pick<T>(first: T, ...others: readonly T[]): T {
    return others[this.roll(others.length + 1) - 1] ?? first;
  }
}
