/**
 * Whether this process should get traffic: not before the first configuration is being served, not while it
 * drains. Losing the API server changes nothing.
 */
export class Readiness {
  #state: 'not programmed' | 'ready' | 'draining' = 'not programmed';

  /** A configuration is being served. */
  programmed(): void {
    if (this.#state === 'not programmed') this.#state = 'ready';
  }

  /** For good: there is no way back. */
  draining(): void {
    this.#state = 'draining';
  }

  get ready(): boolean {
    return this.#state === 'ready';
  }

  get state(): string {
    return this.#state;
  }
}
