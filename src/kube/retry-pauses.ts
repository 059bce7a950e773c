import { NEVER, race, tap, timer, type Observable, type SchedulerLike } from 'rxjs';

import { backoffMs, DEFAULT_BACKOFF, type BackoffLimits } from './backoff.js';
import { isStatus, KubeApiError } from './kube-api-error.js';
import { isUnreached } from './reachability.js';

export interface RetryPausesOptions {
  readonly backoff?: BackoffLimits;
  /** Somebody's request was answered again: what waits because it had no answer need not wait any longer. */
  readonly recovered$?: Observable<unknown>;
  readonly scheduler: SchedulerLike;
  readonly random: () => number;
}

/** A watch that lived this long was fine: the next failure is the first of a row. */
const HEALTHY_MS = 10_000;
/** A watch that ended sooner, although in order, counts as a failure. */
const SHORT_MS = 1000;

/** How long lists and watches of one kind wait before the next attempt. */
export class RetryPauses {
  readonly #options: RetryPausesOptions;
  #failures = 0;
  /** Once in a row of failures, lest kinds that fail by turns wake each other for ever. */
  #wokenEarly = false;
  /** The last failure was that of a version that is too old. */
  #expired = false;
  #watchingSince: number | undefined;

  constructor(options: RetryPausesOptions) {
    this.#options = options;
  }

  listBegins(): void {
    this.#watchingSince = undefined;
  }

  watchBegins(): void {
    this.#watchingSince = this.#now();
  }

  /** Counts a failure; answers how many there are in a row. */
  failed(): number {
    this.#forgetAfterHealthyWatch();
    this.#failures += 1;
    return this.#failures;
  }

  /** Emits when it is time for the next attempt after the failure that was counted last. */
  afterFailure(error: unknown): Observable<unknown> {
    const { recovered$ = NEVER, scheduler } = this.#options;
    // A version that is too old is no fault, however long the API server was away before: one list mends it.
    const wasExpired = this.#expired;
    this.#expired = isStatus(error, 410);
    const pause = this.#expired && !wasExpired ? 0 : this.#pause();
    if (!(error instanceof KubeApiError)) return timer(pause, scheduler);
    const { status, retryAfterMs } = error;
    if (retryAfterMs !== undefined) return timer(Math.max(pause, retryAfterMs), scheduler);
    const due$ = timer(pause, scheduler);
    if (this.#wokenEarly || !isUnreached(status)) return due$;
    const woken = tap(() => {
      this.#wokenEarly = true;
    });
    return race(due$, recovered$.pipe(woken));
  }

  /** Emits when it is time to go on after a list or a watch that we ended (at once), or one that the server ended. */
  afterEnd(byServer: boolean): Observable<unknown> {
    const { scheduler } = this.#options;
    const watchedMs = this.#now() - (this.#watchingSince ?? -Infinity);
    const shortLived = byServer && watchedMs < SHORT_MS;
    this.#forgetAfterHealthyWatch();
    // A proxy that ends every stream at once must not be asked in a tight loop.
    if (!shortLived) return timer(0, scheduler);
    this.#failures += 1;
    return timer(this.#pause(), scheduler);
  }

  #pause(): number {
    const { backoff = DEFAULT_BACKOFF, random } = this.#options;
    return backoffMs(this.#failures - 1, backoff, random);
  }

  #forgetAfterHealthyWatch(): void {
    if (this.#watchingSince === undefined || this.#now() - this.#watchingSince < HEALTHY_MS) return;
    this.#failures = 0;
    this.#wokenEarly = false;
    this.#expired = false;
  }

  #now(): number {
    return this.#options.scheduler.now();
  }
}
