import type { ObjectRef, PlannedEvent } from '../graph/status-plan.js';
import type { Logger } from '../telemetry/logger.js';
import type { Clock } from '../util/clock.js';
import { eventChanges } from './event-changes.js';
import type { EventSink } from './event-sink.js';

export interface LoggedEvent extends PlannedEvent {
  /** Milliseconds since 1970. */
  readonly at: number;
}

const MAX_EVENTS = 1000;

/** Events without an API server: told in the log, and the last ones kept for the management port. */
export class EventLog implements EventSink {
  readonly #clock: Clock;
  readonly #logger: Logger;
  #planned: readonly PlannedEvent[] = [];
  #events: readonly LoggedEvent[] = [];

  constructor(clock: Clock, logger: Logger) {
    this.#clock = clock;
    this.#logger = logger;
  }

  publish(events: readonly PlannedEvent[], exists: (object: ObjectRef) => boolean): void {
    const changes = eventChanges(this.#planned, events, exists);
    this.#planned = events;
    const at = this.#clock.now();
    for (const { object, type, reason, message } of changes) {
      const { kind, namespace, name } = object;
      const level = type === 'Warning' ? 'warn' : 'info';
      this.#logger[level]({ kind, namespace, name, reason, detail: message }, 'object event');
    }
    this.#events = [...this.#events, ...changes.map((event) => ({ ...event, at }))].slice(-MAX_EVENTS);
  }

  /** Oldest first. */
  list(): readonly LoggedEvent[] {
    return this.#events;
  }
}
