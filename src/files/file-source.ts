import { distinctUntilChanged, map, scan, shareReplay, type Observable } from 'rxjs';

import { KINDS, type Kind } from '../apis/kinds.js';
import type { ObjectsByKind } from '../apis/objects.js';
import type { ResourceSource } from '../kube/resource-source.js';
import type { FileProblem } from './file-problem.js';
import { FileReader } from './file-reader.js';
import { foldFiles, NO_FILES, type FilesState } from './fold-files.js';
import { DEFAULT_TIMING, watchFiles, type WatchTiming } from './watch-files.js';

/*
 * Files in place of an API server. In: a directory of YAML and JSON, watched. Out: a snapshot for each kind, as a
 * Reflector gives, of objects that were defaulted, validated and numbered as the API server would have done; and what
 * is wrong with the files. A fault costs the object its change, never its last good version, and no other object
 * anything. It must not decide what objects mean: that is the graph's.
 */

export interface FileSourceOptions {
  readonly timing?: WatchTiming;
  /** Ms since 1970. */
  readonly now?: () => number;
}

/** Everything in a directory (or one file), watched while somebody is subscribed. */
export class FileSource {
  readonly state$: Observable<FilesState>;
  /** Of all files at the moment; empty when all is well. */
  readonly problems$: Observable<readonly FileProblem[]>;

  constructor(root: string, { timing = DEFAULT_TIMING, now = Date.now }: FileSourceOptions = {}) {
    const appearance = createAppearanceClock(now);
    this.state$ = watchFiles(root, timing).pipe(
      scan((state, files) => foldFiles(state, files, appearance()), NO_FILES),
      shareReplay({ bufferSize: 1, refCount: true }),
    );
    this.problems$ = this.state$.pipe(
      map(({ problems }) => problems),
      distinctUntilChanged(),
    );
  }

  sourceOf<K extends Kind>(kind: K): ResourceSource<ObjectsByKind[K]> {
    return {
      kind,
      snapshots$: this.state$.pipe(
        map(({ cluster }) => cluster[kind]),
        distinctUntilChanged(),
      ),
    };
  }

  /** One source for each kind. */
  sources(): readonly ResourceSource[] {
    return KINDS.map(({ kind }) => this.sourceOf(kind));
  }
}

/** What a client of `validate` and `translate` needs: everything under some paths, once. The same for any order. */
export function readFiles(paths: readonly string[]): FilesState {
  const { files } = new FileReader(paths).read();
  return foldFiles(NO_FILES, files, EPOCH);
}

const EPOCH = '1970-01-01T00:00:00Z';

/** Whole seconds as the API has them, and later each time: who appeared first is the older. */
function createAppearanceClock(now: () => number): () => string {
  let last = 0;
  return () => {
    last = Math.max(Math.floor(now() / 1000), last + 1);
    return new Date(last * 1000).toISOString().replace('.000Z', 'Z');
  };
}
