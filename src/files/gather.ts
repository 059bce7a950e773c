import {
  asyncScheduler,
  Observable,
  type OperatorFunction,
  type SchedulerLike,
  type Subscription,
} from 'rxjs';

export interface Patience {
  /** What comes without a pause of this length is one batch. */
  readonly quietMs: number;
  /** A batch is given out after this time even if there was no pause. */
  readonly longestMs: number;
}

/** Collects values until it has been quiet for a while, so that what was written together is looked at together. */
export function gather<T>(
  { quietMs, longestMs }: Patience,
  scheduler: SchedulerLike = asyncScheduler,
): OperatorFunction<T, readonly T[]> {
  return (source) =>
    new Observable((subscriber) => {
      let batch: T[] = [];
      let quiet: Subscription | undefined;
      let longest: Subscription | undefined;
      const flush = (): void => {
        quiet?.unsubscribe();
        longest?.unsubscribe();
        [quiet, longest] = [undefined, undefined];
        const values = batch;
        batch = [];
        if (values.length > 0) subscriber.next(values);
      };
      subscriber.add(() => {
        quiet?.unsubscribe();
        longest?.unsubscribe();
      });
      subscriber.add(
        source.subscribe({
          next: (value) => {
            batch.push(value);
            quiet?.unsubscribe();
            quiet = scheduler.schedule(flush, quietMs);
            longest ??= scheduler.schedule(flush, longestMs);
          },
          error: (error: unknown) => {
            subscriber.error(error);
          },
          complete: () => {
            flush();
            subscriber.complete();
          },
        }),
      );
    });
}
