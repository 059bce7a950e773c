import type { Condition } from '../apis/meta.js';
import { cutText } from '../util/cut-text.js';
import { textAt } from '../kube/json.js';
import { sameValue } from '../kube/same-value.js';

export interface MergeTime {
  /** The generation that was translated: every condition carries it, changed or not. */
  readonly generation: number;
  /** RFC 3339 with whole seconds. */
  readonly now: string;
}

/** `all`: the list is ours alone; else the types that are ours, also those that do not hold any more. */
export type OwnedTypes = 'all' | ReadonlySet<string>;

/** Bytes; the API allows as many characters. */
const MAX_MESSAGE = 32_768;
/** `maxItems` of every list of conditions in the API. */
const MAX_CONDITIONS = 8;

/**
 * The next list of conditions: ours replaced where they stand, types of others kept as they are, exactly one of each
 * type. `lastTransitionTime` moves only when `status` flips.
 */
export function mergeConditions(
  current: readonly unknown[],
  desired: readonly Condition[],
  owned: OwnedTypes,
  time: MergeTime,
): readonly unknown[] {
  const pending = new Map<string, Condition>();
  for (const condition of desired) {
    if (!pending.has(condition.type)) pending.set(condition.type, condition);
  }
  const mine = new Set(pending.keys());

  const merged: unknown[] = [];
  for (const before of current) {
    const type = textAt(before, 'type') ?? '';
    const wanted = pending.get(type);
    if (wanted !== undefined) {
      merged.push(store(wanted, before, time));
      pending.delete(type);
    } else if (!mine.has(type) && owned !== 'all' && !owned.has(type)) merged.push(before);
  }
  for (const condition of pending.values()) merged.push(store(condition, undefined, time));
  return withinLimit(merged, mine);
}

function store({ type, status, reason, message }: Condition, before: unknown, time: MergeTime): unknown {
  const since = textAt(before, 'lastTransitionTime');
  const flipped = textAt(before, 'status') !== status || since === undefined;
  const stored = {
    type,
    status,
    observedGeneration: time.generation,
    lastTransitionTime: flipped ? time.now : since,
    reason,
    message: cutText(message, MAX_MESSAGE),
  };
  return sameValue(before, stored) ? before : stored;
}

/** Too many would have the whole status refused: those of others give way. */
function withinLimit(conditions: readonly unknown[], mine: ReadonlySet<string>): readonly unknown[] {
  let excess = conditions.length - MAX_CONDITIONS;
  return conditions.filter((condition) => {
    if (excess <= 0 || mine.has(textAt(condition, 'type') ?? '')) return true;
    excess -= 1;
    return false;
  });
}
