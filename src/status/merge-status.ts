import type {
  DesiredStatus,
  GatewayClassStatus,
  GatewayStatus,
  ListenerSetStatus,
  ListenerStatus,
  PlannedStatus,
} from '../graph/status-plan.js';
import { isJsonObject, listAt, textAt, type JsonObject } from '../kube/json.js';
import { sameValue } from '../kube/same-value.js';
import { mergeConditions, type MergeTime, type OwnedTypes } from './merge-conditions.js';
import { ANCESTORS, mergeEntries, PARENTS, type EntryList, type EntryOwner } from './merge-entries.js';

export interface MergeContext {
  readonly controllerName: string;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** Types that this controller may have written before and that go when they no longer hold. */
const OWNED = {
  gatewayclass: new Set(['Accepted', 'SupportedVersion']),
  gateway: new Set([
    'Accepted',
    'Programmed',
    'ResolvedRefs',
    'AttachedListenerSets',
    'InsecureFrontendValidationMode',
    'Scheduled',
    'Ready',
  ]),
  listenerset: new Set(['Accepted', 'Programmed', 'ResolvedRefs', 'Conflicted']),
} as const satisfies Record<string, OwnedTypes>;

/**
 * What the status of an object should become, given what it is: entries and condition types of others are kept, in
 * their order and byte for byte. Undefined when nothing has to be written. Pure; merging its result once more gives
 * undefined.
 */
export function mergeStatus(
  current: unknown,
  planned: Pick<PlannedStatus, 'generation' | 'status'>,
  { controllerName, now }: MergeContext,
): JsonObject | undefined {
  const before: JsonObject = isJsonObject(current) ? current : {};
  const owner: EntryOwner = {
    controllerName,
    generation: planned.generation,
    now: new Date(now).toISOString().replace(/\.\d+Z$/, 'Z'),
  };
  const merged = withoutEmpty({ ...before, ...fieldsOf(before, planned.status, owner) }, before);
  return sameValue(before, merged) ? undefined : merged;
}

function fieldsOf(before: JsonObject, desired: DesiredStatus, owner: EntryOwner): JsonObject {
  switch (desired.shape) {
    case 'gatewayclass':
      return gatewayClassFields(before, desired, owner);
    case 'gateway':
      return gatewayFields(before, desired, owner);
    case 'listenerset':
      return listenerSetFields(before, desired, owner);
    case 'route':
      return entryFields(before, desired.parents, PARENTS, owner);
    case 'policy':
      return entryFields(before, desired.ancestors, ANCESTORS, owner);
  }
}

function gatewayClassFields(before: JsonObject, desired: GatewayClassStatus, time: MergeTime): JsonObject {
  return {
    conditions: mergeConditions(listAt(before, 'conditions'), desired.conditions, OWNED.gatewayclass, time),
    supportedFeatures: desired.supportedFeatures.map((name) => ({ name })),
  };
}

function gatewayFields(before: JsonObject, desired: GatewayStatus, time: MergeTime): JsonObject {
  const { addresses, attachedListenerSets } = desired;
  return {
    addresses: addresses.map(({ type, value }) => ({ type, value })),
    attachedListenerSets,
    conditions: mergeConditions(listAt(before, 'conditions'), desired.conditions, OWNED.gateway, time),
    listeners: mergeListeners(listAt(before, 'listeners'), desired.listeners, time),
  };
}

function listenerSetFields(before: JsonObject, desired: ListenerSetStatus, time: MergeTime): JsonObject {
  return {
    conditions: mergeConditions(listAt(before, 'conditions'), desired.conditions, OWNED.listenerset, time),
    listeners: mergeListeners(listAt(before, 'listeners'), desired.listeners, time),
  };
}

/** Exactly the listeners of the spec, in its order. */
function mergeListeners(
  current: readonly unknown[],
  desired: readonly ListenerStatus[],
  time: MergeTime,
): readonly unknown[] {
  return desired.map(({ name, supportedKinds, attachedRoutes, conditions }) => {
    const before = current.find((listener) => textAt(listener, 'name') === name);
    const stored = {
      name,
      // Written also when empty: CRDs before v1.5 require it.
      supportedKinds: supportedKinds.map(({ group, kind }) => ({ group, kind })),
      attachedRoutes,
      conditions: mergeConditions(listAt(before, 'conditions'), conditions, 'all', time),
    };
    return sameValue(before, stored) ? before : stored;
  });
}

/** `parents` and `ancestors` are required by their CRDs, but a status that never was need not come to be for nothing. */
function entryFields(
  before: JsonObject,
  planned: Parameters<typeof mergeEntries>[1],
  list: EntryList,
  owner: EntryOwner,
): JsonObject {
  const merged = mergeEntries(listAt(before, list.field), planned, list, owner);
  return merged.length === 0 && before[list.field] === undefined ? {} : { [list.field]: merged };
}

/** An absent list and an empty one say the same, so neither is a reason to write. */
function withoutEmpty(status: JsonObject, before: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(status).filter(
      ([field, value]) =>
        value !== undefined && (!Array.isArray(value) || value.length > 0 || before[field] !== undefined),
    ),
  );
}
