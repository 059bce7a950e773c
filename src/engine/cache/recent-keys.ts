const MOST_KEYS = 4096;

/** Keys that are remembered for a while; when there are too many the oldest are forgotten. */
export class RecentKeys {
  readonly #ttlMs: number;
  readonly #expiryByKey = new Map<string, number>();

  constructor(ttlMs: number) {
    this.#ttlMs = ttlMs;
  }

  add(key: string, nowMs: number): void {
    this.#expiryByKey.delete(key);
    this.#expiryByKey.set(key, nowMs + this.#ttlMs);
    if (this.#expiryByKey.size <= MOST_KEYS) return;
    const [oldest] = this.#expiryByKey.keys();
    if (oldest !== undefined) this.#expiryByKey.delete(oldest);
  }

  has(key: string, nowMs: number): boolean {
    const expiry = this.#expiryByKey.get(key);
    if (expiry === undefined) return false;
    if (expiry > nowMs) return true;
    this.#expiryByKey.delete(key);
    return false;
  }
}
