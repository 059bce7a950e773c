import type { Kind } from '../apis/kinds.js';

/** What the writer reports; the composition root binds it to the metrics catalogue. */
export interface StatusMetrics {
  /** trickster_kgw_status_writes_total */
  written(kind: Kind): void;
  /** trickster_kgw_status_write_failures_total */
  failed(kind: Kind): void;
}
