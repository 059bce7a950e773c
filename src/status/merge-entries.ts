import type { AncestorStatus, ParentReference, ParentStatus } from '../graph/status-plan.js';
import { isJsonObject, listAt, numberAt, textAt, type JsonObject } from '../kube/json.js';
import { sameValue } from '../kube/same-value.js';
import { mergeConditions, type MergeTime } from './merge-conditions.js';

/** How a shared list of a status is called and how long it may be. */
export interface EntryList {
  readonly field: 'parents' | 'ancestors';
  readonly refField: 'parentRef' | 'ancestorRef';
  readonly maxItems: number;
}

export const PARENTS: EntryList = { field: 'parents', refField: 'parentRef', maxItems: 32 };
export const ANCESTORS: EntryList = { field: 'ancestors', refField: 'ancestorRef', maxItems: 16 };

export interface EntryOwner extends MergeTime {
  readonly controllerName: string;
}

interface Entry {
  readonly ref: ParentReference;
  readonly planned: ParentStatus | AncestorStatus;
}

/**
 * `status.parents` and `status.ancestors` are atomic lists with entries of many controllers. Those of others stay as
 * they are and where they are; ours are replaced in place, dropped when they no longer apply, and added at the end.
 */
export function mergeEntries(
  current: readonly unknown[],
  planned: readonly (ParentStatus | AncestorStatus)[],
  list: EntryList,
  owner: EntryOwner,
): readonly unknown[] {
  const pending = new Map<string, Entry>();
  for (const entry of planned) {
    const ref = 'parentRef' in entry ? entry.parentRef : entry.ancestorRef;
    pending.set(refKey(ref), { ref, planned: entry });
  }

  const merged: unknown[] = [];
  for (const before of current) {
    if (textAt(before, 'controllerName') !== owner.controllerName) {
      merged.push(before);
      continue;
    }
    const key = storedRefKey(before, list);
    const entry = pending.get(key);
    if (entry === undefined) continue;
    pending.delete(key);
    merged.push(toStored(entry, before, list, owner));
  }
  const added = [...pending.values()].map((entry) => toStored(entry, undefined, list, owner));
  return withinLimit([...merged, ...added], list, owner);
}

function toStored(entry: Entry, before: unknown, { refField }: EntryList, owner: EntryOwner): unknown {
  const stored = {
    [refField]: entry.ref,
    controllerName: owner.controllerName,
    conditions: mergeConditions(listAt(before, 'conditions'), entry.planned.conditions, 'all', owner),
  };
  return sameValue(before, stored) ? before : stored;
}

/** A list that is too long is refused as a whole; what others wrote has the right of way. */
function withinLimit(
  entries: readonly unknown[],
  { maxItems }: EntryList,
  { controllerName }: EntryOwner,
): readonly unknown[] {
  let excess = entries.length - maxItems;
  return [...entries]
    .reverse()
    .filter((entry) => {
      if (excess <= 0 || textAt(entry, 'controllerName') !== controllerName) return true;
      excess -= 1;
      return false;
    })
    .reverse();
}

function refKey({ group, kind, namespace, name, sectionName, port }: ParentReference): string {
  return JSON.stringify([group, kind, namespace ?? '', name, sectionName ?? '', port ?? 0]);
}

function storedRefKey(entry: unknown, { refField }: EntryList): string {
  const ref: JsonObject = isJsonObject(entry) && isJsonObject(entry[refField]) ? entry[refField] : {};
  const text = (name: string): string => textAt(ref, name) ?? '';
  return JSON.stringify([
    text('group'),
    text('kind'),
    text('namespace'),
    text('name'),
    text('sectionName'),
    numberAt(ref, 'port') ?? 0,
  ]);
}
