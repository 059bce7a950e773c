import { defer, NEVER, type Observable } from 'rxjs';

import type { ListWatch, RawList } from '../../../src/kube/list-watch.js';

/** Answers the n-th list and the n-th watch with the n-th of a script; the last watch goes on for ever. */
export class ScriptedListWatch implements ListWatch {
  /** In the order in which they were begun: `list`, `watch 12`. */
  readonly calls: string[] = [];
  readonly #lists: Observable<RawList>[];
  readonly #watches: Observable<readonly string[]>[];

  constructor(lists: readonly Observable<RawList>[], watches: readonly Observable<readonly string[]>[]) {
    this.#lists = [...lists];
    this.#watches = [...watches];
  }

  list(): Observable<RawList> {
    return defer(() => {
      this.calls.push('list');
      return this.#lists.shift() ?? NEVER;
    });
  }

  watch(resourceVersion: string): Observable<readonly string[]> {
    return defer(() => {
      this.calls.push(`watch ${resourceVersion}`);
      return this.#watches.shift() ?? NEVER;
    });
  }
}
