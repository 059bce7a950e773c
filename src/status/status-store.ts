import type { Kind } from '../apis/kinds.js';
import type { ObjectRef, StatusPlan } from '../graph/status-plan.js';
import type { JsonObject } from '../kube/json.js';
import type { Clock } from '../util/clock.js';
import { mergeStatus } from './merge-status.js';
import { objectKey, planByObject, textOf } from './status-key.js';
import type { StatusSink } from './status-sink.js';

export interface HeldStatus {
  readonly object: ObjectRef;
  readonly generation: number;
  /** As the API server would store it. */
  readonly status: JsonObject;
}

/**
 * Statuses in memory: the only ones of the standalone mode, and in a cluster what this replica would say. They are
 * merged as the API server's are, so `lastTransitionTime` means the same.
 */
export class StatusStore implements StatusSink {
  readonly #controllerName: string;
  readonly #clock: Clock;
  #held: ReadonlyMap<string, HeldStatus> = new Map();

  constructor(controllerName: string, clock: Clock) {
    this.#controllerName = controllerName;
    this.#clock = clock;
  }

  publish(plan: StatusPlan): void {
    const context = { controllerName: this.#controllerName, now: this.#clock.now() };
    const held = new Map<string, HeldStatus>();
    for (const [key, planned] of planByObject(plan)) {
      const before = this.#held.get(key);
      // An object that was made anew has no history.
      const known = before?.object.uid === planned.object.uid ? before : undefined;
      const status = mergeStatus(known?.status, planned, context) ?? known?.status ?? {};
      const { object, generation } = planned;
      held.set(
        key,
        known?.status === status && known.generation === generation ? known : { object, generation, status },
      );
    }
    this.#held = held;
  }

  get(kind: Kind, namespace: string, name: string): HeldStatus | undefined {
    return this.#held.get(textOf({ kind, key: objectKey({ namespace, name }) }));
  }

  /** In the order of the plan: kind, namespace, name. */
  list(): readonly HeldStatus[] {
    return [...this.#held.values()];
  }
}
