/**
 * Values by hostname: exact names, `*.suffix` for any number of labels on its left, and `''` for any name.
 * Only the most specific one is found; there is no fall-through to a less specific one. Immutable once built.
 */
export class HostTable<T> {
  readonly #exact = new Map<string, T>();
  /** By what follows `*.`. */
  readonly #wildcards = new Map<string, T>();
  readonly #any: T | undefined;

  constructor(entries: Iterable<readonly [hostname: string, value: T]>) {
    let any: T | undefined;
    for (const [hostname, value] of entries) {
      if (hostname === '') any = value;
      else if (hostname.startsWith('*.')) this.#wildcards.set(hostname.slice(2), value);
      else this.#exact.set(hostname, value);
    }
    this.#any = any;
  }

  /** `host` in the form of `normalizeHost`. */
  find(host: string): T | undefined {
    const exact = this.#exact.size > 0 ? this.#exact.get(host) : undefined;
    if (exact !== undefined) return exact;
    if (this.#wildcards.size > 0) {
      // From the left: the longest suffix is the most specific one. The apex has no label for the `*`.
      for (let dot = host.indexOf('.', 1); dot > 0; dot = host.indexOf('.', dot + 1)) {
        const wildcard = this.#wildcards.get(host.slice(dot + 1));
        if (wildcard !== undefined) return wildcard;
      }
    }
    return this.#any;
  }

  /** The value of the hostname itself, `''` or `*.suffix` included. */
  get(hostname: string): T | undefined {
    if (hostname === '') return this.#any;
    return hostname.startsWith('*.') ? this.#wildcards.get(hostname.slice(2)) : this.#exact.get(hostname);
  }

  *values(): Generator<T> {
    yield* this.#exact.values();
    yield* this.#wildcards.values();
    if (this.#any !== undefined) yield this.#any;
  }
}
