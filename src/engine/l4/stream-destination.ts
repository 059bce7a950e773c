import type { WeightedBackend } from '../../ir/http.js';
import type { StreamApplication } from '../../ir/listener.js';
import { WeightedBackends } from '../upstream/weighted-backends.js';

/** Where the connections or sessions of a stream server go: one backend for each of them, by weight. */
export class StreamDestination {
  readonly #backends: WeightedBackends<WeightedBackend>;

  constructor({ backends }: StreamApplication) {
    this.#backends = new WeightedBackends(backends);
  }

  /** Key of the upstream of the next connection; undefined: close it. Refusals take their share (GEP-1364). */
  next(): string | undefined {
    const backend = this.#backends.next();
    return backend?.refusal ? undefined : backend?.upstream;
  }

  /** Whether connections may go to this upstream. */
  includes(upstream: string): boolean {
    return this.#backends.entries.some(
      (backend) => backend.weight > 0 && !backend.refusal && backend.upstream === upstream,
    );
  }
}
