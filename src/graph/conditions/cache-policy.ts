import type { Condition } from '../../apis/meta.js';
import { condition } from './condition.js';

/** One constructor per outcome of a TricksterCachePolicy at one of its targets. */
export const cachePolicyConditions = {
  accepted: (): Condition => condition('Accepted', 'True', 'Accepted', 'The policy is accepted'),
  conflicted: (target: string, winner: string): Condition =>
    condition(
      'Accepted',
      'False',
      'Conflicted',
      `${target} is governed by the older TricksterCachePolicy ${winner}`,
    ),
  targetNotFound: (problem: string): Condition => condition('Accepted', 'False', 'TargetNotFound', problem),
  invalid: (problem: string): Condition => condition('Accepted', 'False', 'Invalid', problem),

  resolvedRefs: (): Condition =>
    condition('ResolvedRefs', 'True', 'ResolvedRefs', 'All names in the policy are configured'),
  cacheNotFound: (problem: string): Condition => condition('ResolvedRefs', 'False', 'CacheNotFound', problem),

  effective: (): Condition =>
    condition('Effective', 'True', 'Effective', 'Requests are served as the policy says'),
  notClaimed: (target: string): Condition =>
    condition(
      'Effective',
      'False',
      'NotClaimed',
      `No HTTPRoute of a Gateway of this controller meets ${target}`,
    ),
  overridden: (target: string): Condition =>
    condition(
      'Effective',
      'False',
      'Overridden',
      `More specific policies override every setting for ${target}`,
    ),
} as const;
