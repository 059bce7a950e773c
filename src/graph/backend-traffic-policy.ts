import type { BackendTrafficPolicy } from '../apis/gateway/backend-traffic-policy.js';
import type { SessionPersistence } from '../apis/gateway/session-persistence.js';
import { parseDuration } from '../util/duration.js';
import type { Scope } from './context.js';
import type { BackendNode } from './http-rule.js';
import { createdAtOf, compareAge } from './precedence.js';
import { findSessionFault } from './session-fault.js';

/** GEP-3388: how many of the requests to a backend may be retries. */
export interface RetryBudget {
  readonly percent: number;
  readonly intervalMs: number;
  readonly minRetriesPerSecond: number;
}

interface TrafficSettings {
  readonly retryBudget?: RetryBudget;
  readonly sessionPersistence?: SessionPersistence;
}

/**
 * What the XBackendTrafficPolicies of a rule's Services ask for. A rule has one budget and one persistence, so the
 * first backend that sets one decides; the rule's own sessionPersistence wins over all (GEP-1619).
 */
export function trafficSettingsOf(backends: readonly BackendNode[], { lookup }: Scope): TrafficSettings {
  let found: TrafficSettings = {};
  for (const { backend } of backends) {
    if (!('target' in backend)) continue;
    const { namespace, service } = backend.target;
    const winner = winnerOf(lookup.find('trafficPolicies', `${namespace}/${service}`) ?? []);
    if (winner && faultOf(winner) === undefined) found = { ...settingsOf(winner), ...found };
  }
  return found;
}

/** The one of several policies of a Service that counts: the oldest. */
export function winnerOf(policies: readonly BackendTrafficPolicy[]): BackendTrafficPolicy | undefined {
  const [winner] = policies.map((policy) => ({ policy, ...agedOf(policy) })).sort(compareAge);
  return winner?.policy;
}

/** What makes a policy govern nothing. */
export function faultOf({ spec }: BackendTrafficPolicy): string | undefined {
  const strange = spec.targetRefs.find(({ group, kind }) => group !== '' || kind !== 'Service');
  if (strange) return `spec.targetRefs: ${strange.kind} of group "${strange.group}" is no backend`;
  return findSessionFault(spec.sessionPersistence)?.cause;
}

function agedOf(policy: BackendTrafficPolicy) {
  const { namespace, name } = policy.metadata;
  return { createdAt: createdAtOf(policy), id: `${namespace}/${name}` };
}

function settingsOf({ spec }: BackendTrafficPolicy): TrafficSettings {
  const budget = toBudget(spec.retryConstraint);
  return {
    ...(budget && { retryBudget: budget }),
    ...(spec.sessionPersistence && { sessionPersistence: spec.sessionPersistence }),
  };
}

function toBudget(constraint: BackendTrafficPolicy['spec']['retryConstraint']): RetryBudget | undefined {
  if (!constraint) return undefined;
  const { count = 10, interval = '1s' } = constraint.minRetryRate;
  const rateMs = parseDuration(interval) ?? 1_000;
  return {
    percent: constraint.budget.percent,
    intervalMs: parseDuration(constraint.budget.interval) ?? 10_000,
    minRetriesPerSecond: rateMs === 0 ? 0 : (count * 1_000) / rateMs,
  };
}
