import type { PlannedEvent, StatusPlan } from '../graph/status-plan.js';
import type { ProxyConfiguration } from '../ir/proxy-configuration.js';

/** The result of one pass: what to serve and what to say about it. */
export interface Translation {
  readonly configuration: ProxyConfiguration;
  readonly statuses: StatusPlan;
  /** Sorted by object, then reason, then message. */
  readonly events: readonly PlannedEvent[];
}
