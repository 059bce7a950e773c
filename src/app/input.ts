import type { Container } from 'inversify';
import type { Observable } from 'rxjs';

import type { Kind } from '../apis/kinds.js';
import type { PlannedInfrastructure } from '../graph/status-plan.js';

/**
 * What differs between a cluster and a directory of files. It binds the sources of all kinds, the leader election and
 * the sinks; everything behind them is the same.
 */
export interface ConnectedInput {
  bind(container: Container): void;
  /** Changes that arrive within this many ms become one pass; 0 when the input sees to that itself. */
  readonly settleMs: number;
  /** Kinds whose objects can exist. State. */
  readonly installedKinds$: Observable<ReadonlySet<Kind>>;
  /** Faults of the input that no status tells, one sentence each. State. */
  readonly problems$: Observable<readonly string[]>;
  /** Secrets (`namespace/name`) that something refers to. */
  requestSecrets(keys: ReadonlySet<string>): void;
  /** Objects that Gateways are to have beside them. */
  publishInfrastructure(plan: readonly PlannedInfrastructure[]): void;
  start(): void;
  stop(): Promise<void>;
}
