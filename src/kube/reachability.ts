import { Subject, type Observable } from 'rxjs';

/** Whether the API server answers, as all requests of one client see it. */
export class Reachability {
  /** A request has been answered, the first one after others had no answer. Hot. */
  readonly recovered$: Observable<void>;
  readonly #recovered$ = new Subject<void>();
  #lost = false;

  constructor() {
    this.recovered$ = this.#recovered$.asObservable();
  }

  /** Status 0: there was no answer. One from 500 on may come from what stands before an API server that is away. */
  saw(status: number): void {
    const recovered = this.#lost && !isUnreached(status);
    this.#lost = isUnreached(status);
    if (recovered) this.#recovered$.next();
  }
}

/** Whether a status does not tell that the API server was reached. */
export function isUnreached(status: number): boolean {
  return status === 0 || status >= 500;
}
