import type { Condition } from '../../apis/meta.js';
import { condition } from './condition.js';

/** One constructor per outcome of a GatewayClass. */
export const gatewayClassConditions = {
  accepted: (): Condition =>
    condition('Accepted', 'True', 'Accepted', 'The GatewayClass is accepted by this controller'),
  invalidParameters: (problem: string): Condition =>
    condition('Accepted', 'False', 'InvalidParameters', problem),
} as const;
