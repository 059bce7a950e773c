/**
 * Folds the snapshots of all kinds into one configuration at a time.
 *
 * In: every source's snapshots. Out: the outcome of each pass. It must not write anything or know a protocol.
 */
import {
  asyncScheduler,
  combineLatest,
  EMPTY,
  filter,
  from,
  map,
  merge,
  type Observable,
  type ObservableInput,
  type SchedulerLike,
  share,
  Subject,
  switchMap,
  tap,
  timer,
} from 'rxjs';

import { type ClusterSnapshot, EMPTY_CLUSTER } from '../apis/cluster-snapshot.js';
import type { ResourceSource } from '../kube/resource-source.js';
import { processLatest } from '../kube/process-latest.js';
import type { PassOutcome } from './control-pass.js';
import { settle } from './settle.js';

/** A port that was taken, or an address that was missing, is tried again after this. */
const RETRY_MS = 5_000;

/** Runs the pipeline for a snapshot; gives one outcome, or undefined, and never fails. `ControlPass` is the one. */
export interface Pass {
  run(cluster: ClusterSnapshot): ObservableInput<PassOutcome | undefined>;
}

export interface AggregatorSettings {
  /** Changes that arrive within this many ms become one pass; 0: those that arrive in one turn. */
  readonly settleMs: number;
  readonly scheduler?: SchedulerLike;
}

export class Aggregator {
  /** The outcome of each pass; shared, so one subscription drives it. */
  readonly outcomes$: Observable<PassOutcome>;

  constructor(
    sources: readonly ResourceSource[],
    pass: Pass,
    { settleMs, scheduler = asyncScheduler }: AggregatorSettings,
  ) {
    // combineLatest waits for every source: no partial cluster is ever translated.
    const cluster$ = combineLatest(
      sources.map(({ kind, snapshots$ }) => snapshots$.pipe(map((objects) => [kind, objects] as const))),
    ).pipe(map(toCluster), settle({ quietMs: settleMs, maxMs: settleMs * 5 }, scheduler));

    const unserved$ = new Subject<ClusterSnapshot | undefined>();
    const again$ = unserved$.pipe(
      switchMap((cluster) =>
        cluster === undefined ? EMPTY : timer(RETRY_MS, scheduler).pipe(map(() => cluster)),
      ),
    );
    // A newer snapshot is worth more than another try of an older one.
    const newest$ = cluster$.pipe(
      tap(() => {
        unserved$.next(undefined);
      }),
    );
    this.outcomes$ = merge(newest$, again$).pipe(
      processLatest((cluster) =>
        from(pass.run(cluster)).pipe(
          tap((outcome) => {
            unserved$.next(outcome && isServed(outcome) ? undefined : cluster);
          }),
        ),
      ),
      filter((outcome) => outcome !== undefined),
      share(),
    );
  }
}

function isServed({ result }: PassOutcome): boolean {
  return result !== undefined && [...result.listeners.values()].every(({ state }) => state === 'serving');
}

function toCluster(snapshots: readonly (readonly [string, ReadonlyMap<string, unknown>])[]): ClusterSnapshot {
  // Each source gives objects of its own kind: that is what its validation is for.
  return { ...EMPTY_CLUSTER, ...(Object.fromEntries(snapshots) as Partial<ClusterSnapshot>) };
}
