import { Observable, Subscription } from 'rxjs';

import type { KubernetesObject } from '../apis/meta.js';
import type { ResourceSnapshot } from './resource-source.js';

export interface FollowedObjects<T extends KubernetesObject> {
  readonly snapshot: ResourceSnapshot<T>;
  /** Every key that is wanted has been looked up at least once. */
  readonly settled: boolean;
}

interface Follower<T extends KubernetesObject> {
  readonly subscription: Subscription;
  snapshot: ResourceSnapshot<T> | undefined;
}

/**
 * Follows single objects: opens a source for each key that is wanted and closes it when it no longer is. Emits with
 * every set of keys and every change; an object that is not there is simply missing.
 */
export function followKeys<T extends KubernetesObject>(
  keys$: Observable<ReadonlySet<string>>,
  open: (key: string) => Observable<ResourceSnapshot<T>>,
): Observable<FollowedObjects<T>> {
  return new Observable((subscriber) => {
    const followers = new Map<string, Follower<T>>();
    let opening = false;

    const emit = (): void => {
      if (opening) return;
      const parts = [...followers.values()].map(({ snapshot }) => snapshot);
      subscriber.next({
        snapshot: new Map(parts.flatMap((part) => [...(part ?? [])])),
        settled: parts.every((part) => part !== undefined),
      });
    };
    const follow = (key: string): void => {
      const follower: Follower<T> = { subscription: new Subscription(), snapshot: undefined };
      followers.set(key, follower);
      follower.subscription.add(
        open(key).subscribe({
          next: (snapshot) => {
            follower.snapshot = snapshot;
            emit();
          },
          error: (error: unknown) => {
            subscriber.error(error);
          },
        }),
      );
    };

    subscriber.add(
      keys$.subscribe({
        next: (keys) => {
          for (const [key, { subscription }] of followers) {
            if (keys.has(key)) continue;
            subscription.unsubscribe();
            followers.delete(key);
          }
          opening = true;
          for (const key of keys) {
            if (!followers.has(key)) follow(key);
          }
          opening = false;
          emit();
        },
        error: (error: unknown) => {
          subscriber.error(error);
        },
      }),
    );
    subscriber.add(() => {
      for (const { subscription } of followers.values()) subscription.unsubscribe();
    });
  });
}
