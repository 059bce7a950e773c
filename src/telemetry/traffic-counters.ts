import {
  COUNTERS_LENGTH,
  DOWNSTREAM_CONNECTIONS_ACTIVE,
  DOWNSTREAM_REQUESTS_ACTIVE,
  TUNNELS_ACTIVE,
  UPSTREAM_CONNECTIONS_ACTIVE,
  UPSTREAM_CONNECTIONS_TOTAL,
  UPSTREAM_CONNECT_FAILURES,
  UPSTREAM_RETRIES_TOTAL,
} from './engine-counters.js';

/**
 * Counters of the data plane in shared memory: workers increment typed-array slots, the main thread sums them
 * when metrics are scraped. Nothing is sent and nothing is locked: each worker writes a block of its own.
 *
 * A block is a row of process-wide fields, then one row for each listener (socket). Rows are given out by the
 * main thread; listeners beyond {@link MAX_LISTENERS} share the last row, so the number of series is bounded.
 */
export const MAX_LISTENERS = 1024;

/** Upper bounds in seconds of the request duration histogram; the last bucket is +Inf. */
export const DURATION_BUCKETS: readonly number[] = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 20];

/** Values of the label `cache_status`, Trickster's vocabulary (research: Trickster's metrics). */
export const CACHE_STATUSES = [
  'hit',
  'phit',
  'nchit',
  'rhit',
  'rmiss',
  'kmiss',
  'purge',
  'proxy-only',
  'proxy-hit',
  'proxy-error',
  'error',
] as const;
export type CacheStatus = (typeof CACHE_STATUSES)[number];
const STATUS_WORDS: readonly string[] = CACHE_STATUSES;
const ERROR = STATUS_WORDS.indexOf('error');

const LISTENER_LAYOUT = {
  /** Five slots: 1xx to 5xx. */
  responses: 0,
  bytesReceived: 5,
  bytesSent: 6,
  durationSum: 7,
  durationBuckets: 8,
  connectionsAccepted: 8 + DURATION_BUCKETS.length + 1,
  connectionsActive: 8 + DURATION_BUCKETS.length + 2,
  connectionsRefused: 8 + DURATION_BUCKETS.length + 3,
  handshakesFailed: 8 + DURATION_BUCKETS.length + 4,
} as const;
const LISTENER_ROW = 8 + DURATION_BUCKETS.length + 5;

const WORKER_CELLS = COUNTERS_LENGTH;
const WORKER_LAYOUT = {
  upstreamConnectionsActive: UPSTREAM_CONNECTIONS_ACTIVE,
  upstreamConnectionsOpened: UPSTREAM_CONNECTIONS_TOTAL,
  upstreamConnectionsFailed: UPSTREAM_CONNECT_FAILURES,
  upstreamRetries: UPSTREAM_RETRIES_TOTAL,
  mirrorsSent: WORKER_CELLS,
  mirrorsDropped: WORKER_CELLS + 1,
  cacheObjects: WORKER_CELLS + 2,
  cacheBytes: WORKER_CELLS + 3,
  cacheEvictions: WORKER_CELLS + 4,
  /** Of the thread: what objects take, and what is reserved for them. */
  heapUsedBytes: WORKER_CELLS + 5,
  heapBytes: WORKER_CELLS + 6,
  /** One slot for each of {@link CACHE_STATUSES}. */
  cacheResults: WORKER_CELLS + 7,
} as const;
const WORKER_ROW = WORKER_CELLS + 7 + CACHE_STATUSES.length;

const LEVELS = [
  DOWNSTREAM_CONNECTIONS_ACTIVE,
  DOWNSTREAM_REQUESTS_ACTIVE,
  UPSTREAM_CONNECTIONS_ACTIVE,
  TUNNELS_ACTIVE,
];

export type WorkerField = Exclude<keyof typeof WORKER_LAYOUT, 'cacheResults'>;
type ConnectionField =
  'connectionsAccepted' | 'connectionsActive' | 'connectionsRefused' | 'handshakesFailed';

const BLOCK_BYTES = (WORKER_ROW + MAX_LISTENERS * LISTENER_ROW) * Float64Array.BYTES_PER_ELEMENT;

export interface ByteCounts {
  readonly received: number;
  readonly sent: number;
}

/** One worker's block. */
export class TrafficCounters {
  readonly memory: SharedArrayBuffer;
  readonly #slots: Float64Array;

  /** Without `memory` a new block is made; with it, another thread's is looked at. */
  constructor(memory: SharedArrayBuffer = new SharedArrayBuffer(BLOCK_BYTES)) {
    this.memory = memory;
    this.#slots = new Float64Array(memory);
  }

  /** One answered request. `status` is 100 to 599; `durationMs` from its first byte to the answer's last. */
  countRequest(row: number, status: number, durationMs: number, bytes: ByteCounts): void {
    const slots = this.#slots;
    const base = WORKER_ROW + row * LISTENER_ROW;
    const seconds = durationMs / 1000;
    increase(slots, base + LISTENER_LAYOUT.responses + ((status / 100) | 0) - 1, 1);
    increase(slots, base + LISTENER_LAYOUT.bytesReceived, bytes.received);
    increase(slots, base + LISTENER_LAYOUT.bytesSent, bytes.sent);
    increase(slots, base + LISTENER_LAYOUT.durationSum, seconds);
    increase(slots, base + LISTENER_LAYOUT.durationBuckets + bucketOf(seconds), 1);
  }

  /** The engine's own cells, for plain increments. */
  get cells(): Float64Array {
    return this.#slots.subarray(0, WORKER_CELLS);
  }

  /** Forgets what is a level and not a count: the worker that held it is gone. */
  resetLevels(): void {
    for (const cell of LEVELS) this.#slots[cell] = 0;
    this.set('cacheObjects', 0);
    this.set('cacheBytes', 0);
    this.set('heapUsedBytes', 0);
    this.set('heapBytes', 0);
    for (let row = 0; row < MAX_LISTENERS; row += 1) {
      this.#slots[WORKER_ROW + row * LISTENER_ROW + LISTENER_LAYOUT.connectionsActive] = 0;
    }
  }

  countConnection(row: number, field: ConnectionField, amount: number): void {
    increase(this.#slots, WORKER_ROW + row * LISTENER_ROW + LISTENER_LAYOUT[field], amount);
  }

  /** The two cells of a listener's bytes, received and sent, for plain increments. */
  byteCells(row: number): Float64Array {
    const base = WORKER_ROW + row * LISTENER_ROW + LISTENER_LAYOUT.bytesReceived;
    return this.#slots.subarray(base, base + 2);
  }

  /** A word that is none of {@link CACHE_STATUSES} counts as `error`. */
  countCacheResult(word: string): void {
    const at = STATUS_WORDS.indexOf(word);
    increase(this.#slots, WORKER_LAYOUT.cacheResults + (at < 0 ? ERROR : at), 1);
  }

  count(field: WorkerField, amount: number): void {
    increase(this.#slots, WORKER_LAYOUT[field], amount);
  }

  /** For fields that are levels, not counts. */
  set(field: WorkerField, value: number): void {
    this.#slots[WORKER_LAYOUT[field]] = value;
  }

  read(field: WorkerField): number {
    return this.#slots[WORKER_LAYOUT[field]] ?? 0;
  }

  readCacheResult(status: CacheStatus): number {
    return this.#slots[WORKER_LAYOUT.cacheResults + CACHE_STATUSES.indexOf(status)] ?? 0;
  }

  readListener(row: number): ListenerCounts {
    const base = WORKER_ROW + row * LISTENER_ROW;
    const at = (offset: number): number => this.#slots[base + offset] ?? 0;
    const range = (offset: number, length: number): number[] =>
      Array.from({ length }, (_, index) => at(offset + index));
    return {
      responses: range(LISTENER_LAYOUT.responses, 5),
      bytesReceived: at(LISTENER_LAYOUT.bytesReceived),
      bytesSent: at(LISTENER_LAYOUT.bytesSent),
      durationSum: at(LISTENER_LAYOUT.durationSum),
      durationBuckets: range(LISTENER_LAYOUT.durationBuckets, DURATION_BUCKETS.length + 1),
      connectionsAccepted: at(LISTENER_LAYOUT.connectionsAccepted),
      connectionsActive: at(LISTENER_LAYOUT.connectionsActive),
      connectionsRefused: at(LISTENER_LAYOUT.connectionsRefused),
      handshakesFailed: at(LISTENER_LAYOUT.handshakesFailed),
    };
  }
}

/** What one worker counted for one listener. `durationBuckets` are not cumulative. */
export interface ListenerCounts {
  readonly responses: readonly number[];
  readonly bytesReceived: number;
  readonly bytesSent: number;
  /** Seconds. */
  readonly durationSum: number;
  readonly durationBuckets: readonly number[];
  readonly connectionsAccepted: number;
  readonly connectionsActive: number;
  readonly connectionsRefused: number;
  readonly handshakesFailed: number;
}

function increase(slots: Float64Array, index: number, amount: number): void {
  slots[index] = (slots[index] ?? 0) + amount;
}

function bucketOf(seconds: number): number {
  let bucket = 0;
  while (bucket < DURATION_BUCKETS.length && seconds > (DURATION_BUCKETS[bucket] ?? 0)) bucket++;
  return bucket;
}
