import type { PlannedEvent, PlannedInfrastructure, StatusPlan } from '../graph/status-plan.js';
import type { ProxyConfiguration } from '../ir/proxy-configuration.js';

/** The result of one pass: what to serve and what to say about it. */
export interface Translation {
  readonly configuration: ProxyConfiguration;
  readonly statuses: StatusPlan;
  /** Sorted by object, then reason, then message. */
  readonly events: readonly PlannedEvent[];
  /** Of Gateways that are served and have `spec.infrastructure`; sorted by namespace and name. */
  readonly infrastructure: readonly PlannedInfrastructure[];
}
