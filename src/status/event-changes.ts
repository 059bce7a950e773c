import type { ObjectRef, PlannedEvent } from '../graph/status-plan.js';

/** What two states of the planned Events differ in: each problem is told once, and once more when it is over. */
export function eventChanges(
  before: readonly PlannedEvent[],
  now: readonly PlannedEvent[],
  exists: (object: ObjectRef) => boolean,
): readonly PlannedEvent[] {
  const known = new Set(before.map(eventKey));
  const appeared = now.filter((event) => !known.has(eventKey(event)));
  const lasting = new Set(now.filter(isWarning).map(problemKey));

  const healed = new Map<string, PlannedEvent>();
  for (const event of before) {
    // A problem whose wording changed has not gone.
    if (isWarning(event) && !lasting.has(problemKey(event)) && exists(event.object)) {
      healed.set(problemKey(event), toHealed(event));
    }
  }
  return [...appeared, ...healed.values()];
}

function toHealed({ object, reason }: PlannedEvent): PlannedEvent {
  return { object, type: 'Normal', reason: 'Resolved', message: `${reason} does not apply any more` };
}

function isWarning({ type }: PlannedEvent): boolean {
  return type === 'Warning';
}

function problemKey({ object, reason }: PlannedEvent): string {
  return JSON.stringify([object.kind, object.namespace, object.name, object.uid, reason]);
}

function eventKey(event: PlannedEvent): string {
  return JSON.stringify([problemKey(event), event.type, event.message]);
}
