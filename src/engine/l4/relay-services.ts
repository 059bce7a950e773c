import type { Counters } from '../../telemetry/engine-counters.js';
import type { TimerWheel } from '../exchange/timer-wheel.js';
import type { UpstreamRegistry } from '../upstream/upstream-registry.js';
import type { BufferPool } from '../wire/buffer-pool.js';
import type { ForwardedBytes } from '../wire/forwarder.js';
import type { Wire } from '../wire/wire.js';
import type { StreamEndpoint } from './stream-endpoint.js';

/** Counts by listener key. */
export interface StreamCounts {
  opened(listener: string): void;
  closed(listener: string): void;
  bytes(listener: string): ForwardedBytes;
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
