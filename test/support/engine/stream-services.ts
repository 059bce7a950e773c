import { COUNTERS_LENGTH } from '../../../src/telemetry/engine-counters.js';
import { TimerWheel } from '../../../src/engine/exchange/timer-wheel.js';
import type { RelayServices } from '../../../src/engine/l4/relay-services.js';
import { StreamEndpoints, type StreamEndpoint } from '../../../src/engine/l4/stream-endpoint.js';
import { UpstreamRegistry } from '../../../src/engine/upstream/upstream-registry.js';
import { BufferPool } from '../../../src/engine/wire/buffer-pool.js';
import { NetWire } from '../../../src/engine/wire/net-wire.js';
import { SecureContexts } from '../../../src/engine/wire/tls/secure-contexts.js';

/** What relays and sessions work with, on a clock that the test turns. */
export class StreamServices implements RelayServices {
  readonly faults: unknown[] = [];
  readonly wire = new NetWire((fault) => this.faults.push(fault));
  nowMs = 0;
  readonly wheel = new TimerWheel(20, () => this.nowMs);
  readonly buffers = new BufferPool({ debug: true });
  readonly counters = new Float64Array(COUNTERS_LENGTH);
  readonly cells = new Float64Array(2);
  opened = 0;
  closed = 0;
  readonly counts = {
    opened: (): void => {
      this.opened++;
    },
    closed: (): void => {
      this.closed++;
    },
    bytes: (): Float64Array => this.cells,
  };
  readonly upstreams: UpstreamRegistry<StreamEndpoint>;

  constructor() {
    const endpoints = new StreamEndpoints();
    this.upstreams = new UpstreamRegistry<StreamEndpoint>(new SecureContexts(), (upstream, endpoint, tls) =>
      endpoints.create(upstream, endpoint, tls),
    );
  }

  pass(ms: number): void {
    // In steps, as the interval would: the wheel looks at each slot.
    for (const end = this.nowMs + ms; this.nowMs < end;) {
      this.nowMs = Math.min(end, this.nowMs + 5_000);
      this.wheel.advance();
    }
  }
}
