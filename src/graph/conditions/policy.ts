import type { Condition } from '../../apis/meta.js';
import { condition } from './condition.js';

/** One constructor per outcome of an XBackendTrafficPolicy at one of its ancestors. */
export const trafficPolicyConditions = {
  accepted: (): Condition => condition('Accepted', 'True', 'Accepted', 'The policy is accepted'),
  conflicted: (winner: string): Condition =>
    condition(
      'Accepted',
      'False',
      'Conflicted',
      `The older XBackendTrafficPolicy ${winner} governs the same target`,
    ),
  targetNotFound: (target: string): Condition =>
    condition('Accepted', 'False', 'TargetNotFound', `${target} in spec.targetRefs does not exist`),
  invalid: (problem: string): Condition => condition('Accepted', 'False', 'Invalid', problem),
} as const;
