import { from, Observable, type ObservableInput, type OperatorFunction } from 'rxjs';

/**
 * Runs `project` for one value at a time. Values that arrive meanwhile replace each other, so a burst costs at most
 * two runs: the one in flight and one for the newest value.
 */
export function processLatest<T, R>(project: (value: T) => ObservableInput<R>): OperatorFunction<T, R> {
  return (source) =>
    new Observable<R>((subscriber) => {
      let pending: { readonly value: T } | undefined;
      let running = false;
      let sourceDone = false;

      const fail = (error: unknown): void => {
        subscriber.error(error);
      };
      const runOne = (value: T): void => {
        let result: Observable<R>;
        try {
          result = from(project(value));
        } catch (error) {
          fail(error);
          return;
        }
        running = true;
        subscriber.add(
          result.subscribe({
            next: (item) => {
              subscriber.next(item);
            },
            error: fail,
            complete: runNext,
          }),
        );
      };
      const runNext = (): void => {
        running = false;
        const next = pending;
        pending = undefined;
        if (next !== undefined) runOne(next.value);
        else if (sourceDone) subscriber.complete();
      };

      subscriber.add(
        source.subscribe({
          next: (value) => {
            if (running) pending = { value };
            else runOne(value);
          },
          error: fail,
          complete: () => {
            sourceDone = true;
            if (!running) subscriber.complete();
          },
        }),
      );
    });
}
