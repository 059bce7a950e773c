import type { Observable, Subscription } from 'rxjs';

import type { Kind } from '../apis/kinds.js';
import type { ObjectRef, PlannedEvent } from '../graph/status-plan.js';
import type { EventRecorder } from '../kube/event-recorder.js';
import type { Leadership, LeadershipTerm } from '../kube/leadership.js';
import type { Logger } from '../telemetry/logger.js';
import { eventChanges } from './event-changes.js';
import type { EventSink } from './event-sink.js';

export interface KubeEventSinkOptions {
  readonly recorder: Pick<EventRecorder, 'record'>;
  readonly leadership$: Observable<Leadership>;
  /** `group/version` by which a kind is served. */
  readonly apiVersionOf: (kind: Kind) => string;
  readonly logger: Logger;
}

/** Has Events recorded while this process leads. A new leader tells only what its predecessor has not. */
export class KubeEventSink implements EventSink {
  readonly #options: KubeEventSinkOptions;
  #events: readonly PlannedEvent[] = [];
  #term: LeadershipTerm | undefined;
  /** What was there when the term began may have been told already. */
  #takingOver = true;
  #subscription: Subscription | undefined;

  constructor(options: KubeEventSinkOptions) {
    this.#options = options;
  }

  start(): void {
    this.#subscription = this.#options.leadership$.subscribe({
      next: (leadership) => {
        this.#term = leadership.leading ? leadership.term : undefined;
        this.#takingOver = this.#events.length === 0;
        for (const event of this.#events) this.#record(event, { unlessRecorded: true });
      },
      error: (problem: unknown) => {
        this.#options.logger.error({ problem: String(problem) }, 'event sink lost its input');
      },
    });
  }

  stop(): void {
    this.#subscription?.unsubscribe();
  }

  publish(events: readonly PlannedEvent[], exists: (object: ObjectRef) => boolean): void {
    const changes = eventChanges(this.#events, events, exists);
    this.#events = events;
    for (const event of changes) this.#record(event, { unlessRecorded: this.#takingOver });
    if (this.#term !== undefined) this.#takingOver = false;
  }

  #record(
    { object, type, reason, message }: PlannedEvent,
    { unlessRecorded }: { unlessRecorded: boolean },
  ): void {
    if (this.#term === undefined) return;
    const apiVersion = this.#options.apiVersionOf(object.kind);
    this.#options.recorder.record(
      { object: { apiVersion, ...object }, type, reason, message },
      { term: this.#term, unlessRecorded },
    );
  }
}
