import type { ObjectRef, PlannedEvent } from '../graph/status-plan.js';

/** Takes what there is to tell about objects. It holds state: what is new or gone is found by comparing. */
export interface EventSink {
  /** `exists` tells whether an object is still there: nothing is said to have healed on one that is not. */
  publish(events: readonly PlannedEvent[], exists: (object: ObjectRef) => boolean): void;
}
