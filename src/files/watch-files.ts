import { statSync, watch, type FSWatcher } from 'node:fs';
import { join } from 'node:path';
import { distinctUntilChanged, map, merge, Observable, of, Subject, timer } from 'rxjs';

import { FileReader, type Contents } from './file-reader.js';
import type { FileReading } from './file-reading.js';
import { gather, type Patience } from './gather.js';

export interface WatchTiming extends Patience {
  /** How often everything is looked at even without a notification (network file systems send none). */
  readonly pollMs: number;
  /** How soon a missing root, or a file that may be in the middle of being written, is looked at again. */
  readonly againMs: number;
}

export const DEFAULT_TIMING: WatchTiming = { quietMs: 10, longestMs: 250, pollMs: 10_000, againMs: 250 };

/**
 * What lies under a directory, or in a file: first when all of it has been read, then after each change. The watches
 * end with the subscription.
 */
export function watchFiles(
  root: string,
  timing: WatchTiming = DEFAULT_TIMING,
): Observable<ReadonlyMap<string, FileReading>> {
  return new Observable((subscriber) => {
    const hints = new Subject<string | undefined>();
    const watches = new DirectoryWatches((path) => {
      hints.next(path);
    });
    const reader = new FileReader([root], {
      onDirectory: (directory) => {
        watches.open(directory);
      },
      graceMs: timing.againMs,
    });
    const batches = merge(
      of([undefined]),
      hints.pipe(gather(timing)),
      timer(timing.pollMs, timing.pollMs).pipe(map(() => [undefined])),
    );
    let again: NodeJS.Timeout | undefined;
    const lookAgain = ({ missing, unsettled }: Contents): void => {
      clearTimeout(again);
      if (!missing && unsettled.length === 0) return;
      again = setTimeout(() => {
        for (const hint of missing ? [undefined] : unsettled) hints.next(hint);
      }, timing.againMs);
    };
    const reading = batches.pipe(
      map((batch) => {
        const contents = reader.read(batch);
        watches.keep(contents.directories);
        lookAgain(contents);
        return contents.files;
      }),
      distinctUntilChanged(),
    );
    subscriber.add(() => {
      clearTimeout(again);
      watches.close();
    });
    subscriber.add(reading.subscribe(subscriber));
  });
}

/** One watch for each directory: those of Node for whole trees miss what happens in new directories. */
class DirectoryWatches {
  readonly #watchers = new Map<string, { readonly identity: string; readonly watcher: FSWatcher }>();
  readonly #notify: (path: string | undefined) => void;
  #closed = false;

  constructor(notify: (path: string | undefined) => void) {
    this.#notify = notify;
  }

  open(directory: string): void {
    if (this.#closed) return;
    try {
      const identity = identityOf(directory);
      if (this.#watchers.get(directory)?.identity === identity) return;
      this.#drop(directory);
      const watcher = watch(directory, (_event, name) => {
        this.#notify(name === null ? undefined : join(directory, name));
      });
      watcher.on('error', () => {
        this.#drop(directory);
        this.#notify(undefined);
      });
      this.#watchers.set(directory, { identity, watcher });
    } catch {
      // Gone already, or the system has no watches left: the poll finds what changes.
    }
  }

  keep(directories: ReadonlySet<string>): void {
    for (const directory of this.#watchers.keys()) if (!directories.has(directory)) this.#drop(directory);
  }

  close(): void {
    this.#closed = true;
    for (const directory of this.#watchers.keys()) this.#drop(directory);
  }

  #drop(directory: string): void {
    this.#watchers.get(directory)?.watcher.close();
    this.#watchers.delete(directory);
  }
}

/** A directory that was removed and made again needs a new watch, although its name is the same. */
function identityOf(directory: string): string {
  const stats = statSync(directory, { throwIfNoEntry: false });
  return `${String(stats?.ino)} ${String(stats?.birthtimeMs)}`;
}
