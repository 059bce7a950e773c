import type { BackendEntry } from '../exchange/route-entry.js';

/**
 * Smooth weighted round robin: over any stretch as long as the sum of the weights each backend is chosen exactly its
 * weight's times, and its turns are spread evenly. Refusals take their share like backends do (case B-01).
 */
export class WeightedBackends<T extends { readonly weight: number } = BackendEntry> {
  readonly entries: readonly T[];
  readonly #only: T | undefined;
  readonly #eligible: readonly T[];
  readonly #credits: Float64Array;
  readonly #total: number;

  constructor(entries: readonly T[]) {
    this.entries = entries;
    this.#eligible = entries.every(isEligible) ? entries : entries.filter(isEligible);
    this.#only = this.#eligible.length === 1 ? this.#eligible[0] : undefined;
    this.#credits = this.#only ? NO_CREDITS : new Float64Array(this.#eligible.length);
    this.#total = this.#eligible.reduce((sum, { weight }) => sum + weight, 0);
  }

  next(): T | undefined {
    if (this.#only) return this.#only;
    const credits = this.#credits;
    let best = -1;
    for (let i = 0; i < credits.length; i++) {
      const credit = (credits[i] ?? 0) + (this.#eligible[i]?.weight ?? 0);
      credits[i] = credit;
      if (best < 0 || credit > (credits[best] ?? 0)) best = i;
    }
    if (best < 0) return undefined;
    credits[best] = (credits[best] ?? 0) - this.#total;
    return this.#eligible[best];
  }
}

const NO_CREDITS = new Float64Array();

function isEligible({ weight }: { readonly weight: number }): boolean {
  return weight > 0;
}
