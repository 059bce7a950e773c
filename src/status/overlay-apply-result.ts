import type { Condition } from '../apis/meta.js';
import type {
  DesiredStatus,
  GatewayStatus,
  ListenerSetStatus,
  ListenerStatus,
  PlannedStatus,
  StatusPlan,
} from '../graph/status-plan.js';
import type { ApplyResult } from '../ir/proxy-engine.js';
import { servingConditions } from './status-conditions.js';

/**
 * Status plans are made as if every socket could be opened. This lays over them what the engine says: a listener is
 * programmed when all its sockets serve. Statuses that do not change stay the same objects.
 */
export function overlayApplyResult(plan: StatusPlan, result: ApplyResult): StatusPlan {
  return mapServed(plan, (status) => {
    const listeners = mapSame(status.listeners, (listener) => overlayListener(listener, result));
    if (listeners === status.listeners) return status;
    return { ...status, listeners, conditions: replaceCondition(status.conditions, summary(listeners)) };
  });
}

/** The engine refused the configuration as a whole: what is planned is not what is served. */
export function overlayRejection(plan: StatusPlan, problem: string): StatusPlan {
  const condition = servingConditions.rejected(problem);
  return mapServed(plan, (status) => ({
    ...status,
    listeners: mapSame(status.listeners, (listener) => lower(listener, condition)),
    conditions: replaceCondition(status.conditions, condition),
  }));
}

function mapServed(
  plan: StatusPlan,
  change: <S extends GatewayStatus | ListenerSetStatus>(status: S) => S,
): StatusPlan {
  return plan.map((planned): PlannedStatus => {
    const status = planned.status;
    if (status.shape !== 'gateway' && status.shape !== 'listenerset') return planned;
    const changed: DesiredStatus = status.shape === 'gateway' ? change(status) : change(status);
    return changed === status ? planned : { ...planned, status: changed };
  });
}

function overlayListener(listener: ListenerStatus, { listeners }: ApplyResult): ListenerStatus {
  for (const socket of listener.sockets) {
    const outcome = listeners.get(socket);
    if (outcome?.state === 'serving') continue;
    const { name } = listener;
    const condition =
      outcome === undefined
        ? servingConditions.pending(`Listener ${name}`)
        : failure(`Listener ${name}`, outcome.code, outcome.message);
    return lower(listener, condition);
  }
  return listener;
}

function failure(listener: string, code: string, message: string): Condition {
  switch (code) {
    case 'EADDRINUSE':
    case 'EACCES':
      return servingConditions.portUnavailable(listener, message);
    case 'EADDRNOTAVAIL':
      return servingConditions.addressNotUsable(listener, message);
    default:
      return servingConditions.invalid(listener, message);
  }
}

/** What translation found wrong already is the better reason. */
function lower(listener: ListenerStatus, condition: Condition): ListenerStatus {
  const programmed = listener.conditions.find(({ type }) => type === 'Programmed');
  if (programmed?.status === 'False') return listener;
  return { ...listener, conditions: setCondition(listener.conditions, condition) };
}

/** The Gateway is programmed while a listener is, except that an address of its own that does not work is told. */
function summary(listeners: readonly ListenerStatus[]): Condition | undefined {
  const programmed = listeners.map(({ conditions }) => conditions.find(({ type }) => type === 'Programmed'));
  const address = programmed.find((condition) => condition?.reason === 'AddressNotUsable');
  if (address !== undefined) return address;
  return programmed.some((condition) => condition?.status === 'True')
    ? undefined
    : servingConditions.noListenerServes();
}

function replaceCondition(
  conditions: readonly Condition[],
  condition: Condition | undefined,
): readonly Condition[] {
  const before = conditions.find(({ type }) => type === 'Programmed');
  if (condition === undefined || before?.status === 'False') return conditions;
  return setCondition(conditions, condition);
}

function setCondition(conditions: readonly Condition[], condition: Condition): readonly Condition[] {
  return conditions.some(({ type }) => type === condition.type)
    ? conditions.map((other) => (other.type === condition.type ? condition : other))
    : [...conditions, condition];
}

/** The list itself when no element changed. */
function mapSame<V>(values: readonly V[], change: (value: V) => V): readonly V[] {
  const changed = values.map(change);
  return changed.every((value, index) => value === values[index]) ? values : changed;
}
