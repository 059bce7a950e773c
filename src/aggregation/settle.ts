import {
  asapScheduler,
  asyncScheduler,
  Observable,
  type MonoTypeOperatorFunction,
  type SchedulerLike,
  type Subscription,
} from 'rxjs';

export interface SettleTimes {
  /** A burst is over when nothing came for this long; 0: when what is running now has run. */
  readonly quietMs: number;
  /** A burst that does not end is cut after this long, so that constant change cannot hold everything up. */
  readonly maxMs: number;
}

/** Lets a burst of states settle and passes on only the newest. A last state is passed on when the source completes. */
export function settle<T>(
  { quietMs, maxMs }: SettleTimes,
  scheduler: SchedulerLike = asyncScheduler,
): MonoTypeOperatorFunction<T> {
  // A timer takes a millisecond at least.
  const timers = quietMs === 0 ? asapScheduler : scheduler;
  return (source) =>
    new Observable<T>((subscriber) => {
      let newest: { readonly value: T } | undefined;
      let deadline = 0;
      let waiting: Subscription | undefined;

      const emit = (): void => {
        waiting?.unsubscribe();
        waiting = undefined;
        const settled = newest;
        newest = undefined;
        if (settled !== undefined) subscriber.next(settled.value);
      };

      subscriber.add(
        source.subscribe({
          next: (value) => {
            if (newest === undefined) deadline = scheduler.now() + maxMs;
            newest = { value };
            waiting?.unsubscribe();
            waiting = timers.schedule(emit, Math.max(0, Math.min(quietMs, deadline - scheduler.now())));
          },
          error: (error: unknown) => {
            subscriber.error(error);
          },
          complete: () => {
            emit();
            subscriber.complete();
          },
        }),
      );
      subscriber.add(() => {
        waiting?.unsubscribe();
      });
    });
}
