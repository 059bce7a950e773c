import { parseDuration } from '../../util/duration.js';
import type { BackendTrafficPolicy } from '../gateway/index.js';
import type { FieldProblem } from '../validation/field-problem.js';
import { sessionPersistence } from './routes.js';
import { problemWhen } from './rule.js';

const SECOND = 1_000;
const HOUR = 3_600_000;

/** GEP-3388. */
export function* retryIntervals({
  spec: { retryConstraint },
}: BackendTrafficPolicy): Generator<FieldProblem> {
  if (!retryConstraint) return;
  const budget = parseDuration(retryConstraint.budget.interval) ?? 0;
  yield* problemWhen(
    budget < SECOND || budget > HOUR,
    'spec.retryConstraint.budget.interval',
    'must be from 1s to 1h',
  );
  const { interval } = retryConstraint.minRetryRate;
  const minimum = interval === undefined ? SECOND : (parseDuration(interval) ?? 0);
  yield* problemWhen(
    minimum === 0 || minimum > HOUR,
    'spec.retryConstraint.minRetryRate.interval',
    'must be more than 0s and at most 1h',
  );
}

export function* trafficSession({ spec }: BackendTrafficPolicy): Generator<FieldProblem> {
  yield* sessionPersistence(spec.sessionPersistence, 'spec.sessionPersistence');
}
