import { listDifference, type ListDifference } from './differences.js';

/**
 * Sorts one version of a list after the other. Comparing thousands of elements anew costs more than everything else
 * that has to be done for those that did not change, so what is new goes to its place among them. The result is the
 * same array while the elements are the same.
 */
export class KeptOrder<V extends object> {
  readonly #compare: (a: V, b: V) => number;
  #elements: readonly V[] = [];
  #sorted: readonly V[] = [];

  /** `compare` must tell any two elements of a list apart: their order in the list decides nothing. */
  constructor(compare: (a: V, b: V) => number) {
    this.#compare = compare;
  }

  /** No element may be in the list twice. */
  sort(elements: readonly V[]): readonly V[] {
    const difference = listDifference(this.#elements, elements);
    const count = difference.removed.length + difference.added.length;
    this.#elements = elements;
    if (count === 0) return this.#sorted;
    // Each of them moves what is behind it.
    const amended = count ** 2 <= elements.length ? this.#amend(difference) : undefined;
    return (this.#sorted = amended ?? elements.toSorted(this.#compare));
  }

  /** Undefined when an element is not where the comparison leads. */
  #amend({ removed, added }: ListDifference<V>): readonly V[] | undefined {
    const amended = [...this.#sorted];
    for (const element of removed) {
      const place = this.#placeOf(element, amended);
      if (amended[place] !== element) return undefined;
      amended.splice(place, 1);
    }
    for (const element of added) amended.splice(this.#placeOf(element, amended), 0, element);
    return amended;
  }

  /** The first place whose element is not before the one that is given. */
  #placeOf(element: V, sorted: readonly V[]): number {
    let [low, high] = [0, sorted.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      const other = sorted[middle];
      if (other && this.#compare(other, element) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
