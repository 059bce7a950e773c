import type { Kind } from '../apis/kinds.js';
import type { ObjectRef, PlannedStatus, StatusPlan } from '../graph/status-plan.js';
import type { JsonObject } from '../kube/json.js';
import { textOf } from '../kube/status-cache.js';
import type { Clock } from '../util/clock.js';
import { Interner } from '../util/interner.js';
import { mergeStatus } from './merge-status.js';
import { objectKey, planByObject } from './status-key.js';
import type { StatusSink } from './status-sink.js';

export interface HeldStatus {
  readonly object: ObjectRef;
  readonly generation: number;
  /** As the API server would store it. */
  readonly status: JsonObject;
}

interface Held {
  readonly planned: PlannedStatus;
  readonly status: HeldStatus;
}

/**
 * Statuses in memory: the only ones of the standalone mode, and in a cluster what this replica would say. They are
 * merged as the API server's are, so `lastTransitionTime` means the same.
 */
export class StatusStore implements StatusSink {
  readonly #controllerName: string;
  readonly #clock: Clock;
  readonly #interner = new Interner();
  #held: ReadonlyMap<string, Held> = new Map();

  constructor(controllerName: string, clock: Clock) {
    this.#controllerName = controllerName;
    this.#clock = clock;
  }

  publish(plan: StatusPlan): void {
    const now = this.#clock.now();
    const held = new Map<string, Held>();
    for (const [key, planned] of planByObject(plan)) {
      const before = this.#held.get(key);
      held.set(key, before?.planned === planned ? before : this.#merge(before, planned, now));
    }
    this.#held = held;
  }

  get(kind: Kind, namespace: string, name: string): HeldStatus | undefined {
    return this.#held.get(textOf({ kind, key: objectKey({ namespace, name }) }))?.status;
  }

  /** In the order of the plan: kind, namespace, name. */
  list(): readonly HeldStatus[] {
    return [...this.#held.values()].map(({ status }) => status);
  }

  #merge(before: Held | undefined, planned: PlannedStatus, now: number): Held {
    // An object that was made anew has no history.
    const known = before?.planned.object.uid === planned.object.uid ? before.status : undefined;
    const merged = mergeStatus(known?.status, planned, { controllerName: this.#controllerName, now });
    const { object, generation } = planned;
    if (merged === undefined && known?.generation === generation) return { planned, status: known };
    const status = this.#interner.of(merged ?? known?.status ?? {});
    return { planned, status: { object, generation, status } };
  }
}
