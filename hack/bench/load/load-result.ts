/** What a load generator saw. */
export interface LoadResult {
  /** Requests, handshakes or round trips that were answered well. */
  readonly count: number;
  readonly failed: number;
  readonly perSecond: number;
  /** In µs; absent when the generator does not say. */
  readonly p50?: number;
  readonly p99?: number;
}
