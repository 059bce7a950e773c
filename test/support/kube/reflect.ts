import { map, type Observable } from 'rxjs';
import type { TestScheduler } from 'rxjs/testing';

import { KubeApiError } from '../../../src/kube/kube-api-error.js';
import type { KubeMetrics } from '../../../src/kube/kube-metrics.js';
import type { RawList } from '../../../src/kube/list-watch.js';
import { Reflector, type ReflectorOptions } from '../../../src/kube/reflector.js';
import { decodeThing, printThings, recordingLogger, type LogLine, type Thing } from './objects.js';
import { ScriptedListWatch } from './scripted-list-watch.js';

export const list = (version: string, ...items: readonly object[]): RawList => ({
  items,
  resourceVersion: version,
});
/** What the API server answers with a status; 0: nothing. */
export const failed = (status: number, retryAfterMs?: number): KubeApiError =>
  new KubeApiError('GET', {
    status,
    reason: String(status),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  });

class CountingMetrics implements KubeMetrics {
  readonly seen: string[] = [];
  watchEvent(kind: string, event: string): void {
    this.seen.push(`${kind} event ${event}`);
  }
  relist(kind: string, reason: string): void {
    this.seen.push(`${kind} relist ${reason}`);
  }
  watchError(kind: string, reason: string): void {
    this.seen.push(`${kind} error ${reason}`);
  }
}

interface Setup {
  readonly lists: readonly Observable<RawList>[];
  readonly watches: readonly Observable<readonly string[]>[];
  readonly options?: Partial<ReflectorOptions<Thing>>;
}

/** A reflector of things beside what it asked, counted and logged. */
export function reflect(scheduler: TestScheduler, { lists, watches, options = {} }: Setup) {
  const listWatch = new ScriptedListWatch(lists, watches);
  const metrics = new CountingMetrics();
  const logs: LogLine[] = [];
  const reflector = new Reflector<Thing>({
    kind: 'Service',
    listWatch,
    decode: decodeThing,
    metrics,
    logger: recordingLogger(logs),
    scheduler,
    // With 0, a back-off is exactly half of its full length: 125 ms, 250 ms, 500 ms …
    random: () => 0,
    ...options,
  });
  return { reflector, listWatch, metrics, logs, printed$: reflector.snapshots$.pipe(map(printThings)) };
}
