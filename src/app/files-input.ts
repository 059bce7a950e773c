import type { Container } from 'inversify';
import { map, of } from 'rxjs';

import { type Kind, KINDS } from '../apis/kinds.js';
import { formatProblem } from '../files/file-problem.js';
import { FileSource } from '../files/file-source.js';
import { DEFAULT_TIMING, type WatchTiming } from '../files/watch-files.js';
import { neverLeading } from '../kube/leadership.js';
import { EventLog } from '../status/event-log.js';
import type { Logger } from '../telemetry/logger.js';
import { TOKENS } from '../tokens.js';
import type { Clock } from '../util/clock.js';
import { bindSources } from './bind-sources.js';
import type { ConnectedInput } from './input.js';

export interface FilesInputOptions {
  readonly directory: string;
  /** Changes that arrive within this many ms become one pass. */
  readonly debounceMs: number;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** The standalone mode: objects from files, statuses in memory, Events in the log. */
export function filesInput({ directory, debounceMs, clock, logger }: FilesInputOptions): ConnectedInput {
  const source = new FileSource(directory, { timing: timingOf(debounceMs) });
  return {
    bind: (container: Container) => {
      bindSources(container, (kind) => source.sourceOf(kind));
      container.bind(TOKENS.LeaderElection).toConstantValue(neverLeading());
      container.bind(TOKENS.EventSink).toConstantValue(new EventLog(clock, logger));
      container.bind(TOKENS.StatusSink).toService(TOKENS.StatusStore);
    },
    settleMs: 0, // the source waits until nothing is written any more
    installedKinds$: of(new Set<Kind>(KINDS.map(({ kind }) => kind))),
    problems$: source.problems$.pipe(map((problems) => problems.map(formatProblem))),
    requestSecrets: () => undefined, // every Secret is in the files
    publishInfrastructure: () => undefined, // there is no platform whose tools look for it
    start: () => undefined,
    stop: () => Promise.resolve(),
  };
}

/** One wait for both: that files are written to their end, and that what belongs together becomes one pass. */
function timingOf(debounceMs: number): WatchTiming {
  const { quietMs, longestMs } = DEFAULT_TIMING;
  return {
    ...DEFAULT_TIMING,
    quietMs: Math.max(quietMs, debounceMs),
    longestMs: Math.max(longestMs, debounceMs * 5),
  };
}
