import type { Counters } from '../../telemetry/engine-counters.js';
import type { TimerWheel } from '../exchange/timer-wheel.js';
import type { UpstreamRegistry } from '../upstream/upstream-registry.js';
import type { BufferPool } from '../wire/buffer-pool.js';
import type { Wire } from '../wire/wire.js';
import type { StreamEndpoint } from './stream-endpoint.js';

/** Cell of {@link StreamCounts.bytes} for what clients send. */
export const RECEIVED = 0;
/** Cell of {@link StreamCounts.bytes} for what is sent to clients. */
export const SENT = 1;
export type Direction = typeof RECEIVED | typeof SENT;

/** Counts by listener key. */
export interface StreamCounts {
  opened(listener: string): void;
  closed(listener: string): void;
  /** Two cells, for plain increments. */
  bytes(listener: string): Float64Array;
}

/** What all relays and sessions of a worker share. */
export interface RelayServices {
  readonly wire: Wire;
  readonly wheel: TimerWheel;
  readonly buffers: BufferPool;
  readonly counters: Counters;
  readonly counts: StreamCounts;
  readonly upstreams: UpstreamRegistry<StreamEndpoint>;
}
