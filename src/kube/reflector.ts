import {
  asyncScheduler,
  BehaviorSubject,
  concat,
  concatMap,
  defer,
  EMPTY,
  mergeMap,
  of,
  repeat,
  retry,
  shareReplay,
  takeUntil,
  tap,
  throwError,
  timeout,
  timer,
  type Observable,
  type SchedulerLike,
} from 'rxjs';

import type { Kind } from '../apis/kinds.js';
import type { KubernetesObject } from '../apis/meta.js';
import type { Logger } from '../telemetry/logger.js';
import { messageOf } from '../util/errors.js';
import type { BackoffLimits } from './backoff.js';
import { isStatus, KubeApiError, WatchBrokenError } from './kube-api-error.js';
import type { KubeMetrics, RelistReason } from './kube-metrics.js';
import type { ListWatch } from './list-watch.js';
import { ObjectStore, type Decode, type ObjectFault } from './object-store.js';
import type { ResourceSnapshot, ResourceSource } from './resource-source.js';
import { RetryPauses } from './retry-pauses.js';
import type { RawObserver } from './status-cache.js';
import { parseWatchEvent } from './watch-event.js';

export interface ReflectorOptions<T extends KubernetesObject> {
  readonly kind: Kind;
  readonly listWatch: ListWatch;
  readonly decode: Decode<T>;
  readonly metrics: KubeMetrics;
  readonly logger: Logger;
  readonly observer?: RawObserver;
  /** The API server says that the kind is not there (any more). */
  readonly onMissing?: () => void;
  /** After how long everything is listed again as a backstop. 10 minutes, ±10 %. */
  readonly resyncMs?: number;
  /** After how long without an event or a bookmark a watch is given up. 90 s: bookmarks come about once a minute. */
  readonly silenceMs?: number;
  readonly backoff?: BackoffLimits;
  /** The API server answers again, as others have seen. */
  readonly recovered$?: Observable<unknown>;
  readonly scheduler?: SchedulerLike;
  readonly random?: () => number;
}

export interface SourceHealth {
  /** There was a complete list. Never falls back. */
  readonly synced: boolean;
  /** Why the last list or watch ended, while it has not recovered. */
  readonly lastError?: string;
}

const RESYNC_MS = 600_000;
const SILENCE_MS = 90_000;

/**
 * Keeps the objects of one kind as the API server has them. In: a ListWatch. Out: snapshots, the first only after a
 * complete list. It resumes where a watch ended, lists anew when that cannot be, and never ends or fails.
 * It knows nothing of what the objects mean.
 */
export class Reflector<T extends KubernetesObject> implements ResourceSource<T> {
  readonly kind: Kind;
  readonly snapshots$: Observable<ResourceSnapshot<T>>;
  /** Objects that cannot be read, by key. State: starts with none. */
  readonly faults$: Observable<ReadonlyMap<string, ObjectFault>>;
  readonly health$: Observable<SourceHealth>;
  readonly #options: ReflectorOptions<T>;
  readonly #faults$ = new BehaviorSubject<ReadonlyMap<string, ObjectFault>>(new Map());
  readonly #health$ = new BehaviorSubject<SourceHealth>({ synced: false });

  constructor(options: ReflectorOptions<T>) {
    this.kind = options.kind;
    this.#options = options;
    this.faults$ = this.#faults$.asObservable();
    this.health$ = this.#health$.asObservable();
    this.snapshots$ = defer(() => this.#run()).pipe(shareReplay({ bufferSize: 1, refCount: true }));
  }

  #run(): Observable<ResourceSnapshot<T>> {
    const run = new ReflectorRun(this.#options, this.#faults$, this.#health$);
    return defer(() => run.step()).pipe(
      retry({ delay: (error: unknown) => run.failed(error) }),
      repeat({ delay: () => run.ended() }),
    );
  }
}

/** One subscription's state: where the watch stands. */
class ReflectorRun<T extends KubernetesObject> {
  readonly #options: ReflectorOptions<T>;
  readonly #faults$: BehaviorSubject<ReadonlyMap<string, ObjectFault>>;
  readonly #health$: BehaviorSubject<SourceHealth>;
  readonly #store: ObjectStore<T>;
  readonly #scheduler: SchedulerLike;
  readonly #random: () => number;
  readonly #pauses: RetryPauses;
  /** The version to watch from; undefined: list first. */
  #cursor: string | undefined;
  #relistReason: RelistReason = 'initial';
  #listed = false;
  #resyncAt = 0;

  constructor(
    options: ReflectorOptions<T>,
    faults$: BehaviorSubject<ReadonlyMap<string, ObjectFault>>,
    health$: BehaviorSubject<SourceHealth>,
  ) {
    this.#options = options;
    this.#faults$ = faults$;
    this.#health$ = health$;
    this.#store = new ObjectStore(options.decode, options.observer);
    this.#scheduler = options.scheduler ?? asyncScheduler;
    this.#random = options.random ?? Math.random;
    this.#pauses = new RetryPauses({ ...options, scheduler: this.#scheduler, random: this.#random });
  }

  step(): Observable<ResourceSnapshot<T>> {
    return this.#cursor === undefined ? this.#list() : this.#watch(this.#cursor);
  }

  /** After an error: what to do next is set; answers when. */
  failed(error: unknown): Observable<unknown> {
    const { kind, metrics, logger, onMissing } = this.#options;
    const reason = reasonOf(error);
    const failures = this.#pauses.failed();
    metrics.watchError(kind, reason);
    this.#health$.next({ ...this.#health$.value, lastError: messageOf(error) });
    logger[levelOf(reason, failures)]({ kind, reason, failures, problem: messageOf(error) }, 'watch failed');

    if (isStatus(error, 404)) onMissing?.();
    if (isStatus(error, 410)) this.#relist('expired');
    // Neither is the stream's place known any more, nor what was lost.
    else if (!(error instanceof KubeApiError)) this.#relist('broken');
    return this.#pauses.afterFailure(error);
  }

  /** After a list or an orderly end of a watch: answers when to go on. */
  ended(): Observable<unknown> {
    // We end a watch only in order to list again.
    return this.#pauses.afterEnd(this.#cursor !== undefined);
  }

  #list(): Observable<ResourceSnapshot<T>> {
    const { kind, listWatch, metrics, resyncMs = RESYNC_MS } = this.#options;
    this.#pauses.listBegins();
    metrics.relist(kind, this.#relistReason);
    return listWatch.list().pipe(
      mergeMap(({ items, resourceVersion }) => {
        if (resourceVersion === '') {
          return throwError(() => new WatchBrokenError('no-version', 'the list has no resourceVersion'));
        }
        const changed = this.#store.replace(items);
        this.#cursor = resourceVersion;
        this.#resyncAt = this.#scheduler.now() + resyncMs * (0.9 + this.#random() / 5);
        const first = !this.#listed;
        this.#listed = true;
        this.#health$.next({ synced: true });
        return changed || first ? this.#publish() : EMPTY;
      }),
    );
  }

  #watch(cursor: string): Observable<ResourceSnapshot<T>> {
    const { listWatch, silenceMs = SILENCE_MS } = this.#options;
    this.#pauses.watchBegins();
    const resync = timer(Math.max(0, this.#resyncAt - this.#scheduler.now()), this.#scheduler);
    return listWatch.watch(cursor).pipe(
      timeout({ each: silenceMs, scheduler: this.#scheduler, with: () => throwError(() => silence()) }),
      concatMap((lines) => this.#apply(lines)),
      takeUntil(
        resync.pipe(
          tap(() => {
            this.#relist('resync');
          }),
        ),
      ),
    );
  }

  /** What the lines before a bad one said still counts. */
  #apply(lines: readonly string[]): Observable<ResourceSnapshot<T>> {
    let changed = false;
    let failure: Error | undefined;
    for (const line of lines) {
      try {
        changed = this.#applyLine(line) || changed;
      } catch (error) {
        failure = error instanceof Error ? error : new Error(messageOf(error));
        break;
      }
    }
    const snapshot = changed ? this.#publish() : EMPTY;
    if (failure !== undefined) {
      return concat(
        snapshot,
        throwError(() => failure),
      );
    }
    if (this.#health$.value.lastError !== undefined) this.#health$.next({ synced: true });
    return snapshot;
  }

  #applyLine(line: string): boolean {
    const { kind, metrics } = this.#options;
    const event = parseWatchEvent(line);
    metrics.watchEvent(kind, event.type);
    this.#cursor = event.version;
    return event.type !== 'bookmark' && this.#store.apply(event);
  }

  #publish(): Observable<ResourceSnapshot<T>> {
    this.#reportFaults();
    return of(this.#store.snapshot());
  }

  #reportFaults(): void {
    const { kind, logger } = this.#options;
    const before = this.#faults$.value;
    const faults = this.#store.faults();
    if (before.size === 0 && faults.size === 0) return;
    for (const [key, { problem, keptLastGood }] of faults) {
      if (before.get(key)?.problem !== problem) {
        logger.warn({ kind, key, problem, keptLastGood }, 'object cannot be read');
      }
    }
    this.#faults$.next(faults);
  }

  #relist(reason: RelistReason): void {
    this.#cursor = undefined;
    // Until a list has succeeded, every list is the first.
    if (this.#listed) this.#relistReason = reason;
  }
}

/**
 * A long outage says so at its start and then ever more rarely. Bookmarks come about once a minute, so a quiet kind is
 * reconnected now and then, and nobody needs to act.
 */
function levelOf(reason: string, failures: number): 'warn' | 'debug' {
  return reason !== 'silent' && isPowerOfTwo(failures) ? 'warn' : 'debug';
}

function silence(): KubeApiError {
  return new KubeApiError('the watch is silent', { status: 0, reason: 'silent' });
}

/** Label of the error metric: from a small set. */
function reasonOf(error: unknown): string {
  if (error instanceof WatchBrokenError) return error.reason;
  if (error instanceof KubeApiError) return error.status === 0 ? error.reason : String(error.status);
  return 'internal';
}

function isPowerOfTwo(count: number): boolean {
  return (count & (count - 1)) === 0;
}
