/** Texts are kept as well as values, so what is long is not remembered, only its parts. */
const LONGEST_TEXT = 4096;
const MOST_KEPT = 1024;

/**
 * Gives equal values, and equal parts of different values, one object: tens of thousands of rules mostly repeat a few
 * paths, backends and options. For plain data (what JSON can say) that nobody changes and whose identity means nothing.
 *
 * It remembers what was seen lately, in two generations: what is met again moves to the younger one, and when that is
 * full the older one is forgotten. That costs memory and nothing else.
 */
export class Interner {
  #young = new Map<string, object>();
  #old: ReadonlyMap<string, object> = new Map();

  of<T>(value: T): T;
  of(value: unknown): unknown {
    return typeof value === 'object' && value !== null ? this.#share(value) : value;
  }

  /** The object with its fields interned, for one that is itself like no other. */
  parts<T extends object>(value: T): T;
  parts(value: object): object {
    return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, this.of<unknown>(part)]));
  }

  #share(value: object): object {
    const text = JSON.stringify(value);
    if (text.length > LONGEST_TEXT) return this.#withSharedParts(value);
    const known = this.#young.get(text);
    if (known) return known;
    const shared = this.#old.get(text) ?? this.#withSharedParts(value);
    this.#remember(text, shared);
    return shared;
  }

  #withSharedParts(value: object): object {
    // Mapping also makes lists as short as they can be: what was pushed into has room for more.
    return Array.isArray(value) ? value.map((item: unknown) => this.of(item)) : this.parts(value);
  }

  #remember(text: string, value: object): void {
    if (this.#young.size >= MOST_KEPT) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(text, value);
  }
}
