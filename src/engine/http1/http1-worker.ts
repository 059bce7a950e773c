import { Piece } from '../exchange/piece.js';
import * as counter from '../../telemetry/engine-counters.js';
import type { Counters } from '../../telemetry/engine-counters.js';
import type { DownstreamContext } from '../exchange/downstream.js';
import type { ExchangeRunner } from '../exchange/exchange-runner.js';
import type { TimerWheel } from '../exchange/timer-wheel.js';
import type { Connection } from '../wire/wire.js';
import type { BufferPool } from '../wire/buffer-pool.js';
import { READ_BYTES } from '../wire/buffer-pool.js';
import type { Http1DownstreamConnection } from './downstream-connection.js';
import { RawRequestHead } from './raw-heads.js';
import { ResponseForm } from './response-encoder.js';
import { newScratch, nextScratch } from './scratch.js';

/** The bytes begin an HTTP/2 connection by prior knowledge; the callee takes the connection over. */
export type Http2Takeover = (wire: Connection, context: DownstreamContext, received: Buffer) => void;

/** Waits of client connections, in ms. */
export interface DownstreamTimeouts {
  /** Between two requests. */
  readonly idleMs: number;
  /** Without a byte of a request body that is wanted. */
  readonly bodyMs: number;
  /** Without the client taking a byte of the response. */
  readonly writeMs: number;
  /** For the client to close after the last response. */
  readonly lingerMs: number;
}

export const DEFAULT_DOWNSTREAM_TIMEOUTS: DownstreamTimeouts = {
  idleMs: 75_000,
  bodyMs: 60_000,
  writeMs: 60_000,
  lingerMs: 2_000,
};

/** Nearly every head, with a small body behind it. */
const SCRATCH_BYTES = 32 * 1024;
/** A head of the largest size and what is added to it. */
export const LARGE_SCRATCH_BYTES = 192 * 1024;
/** Heads that wait for a request; each keeps a few KiB. */
const KEPT_HEADS = 256;

/**
 * What the client connections of a worker share. Everything here is used within one call and nothing is kept across
 * returns to the event loop, except buffers and heads that a connection has taken for itself.
 */
export class Http1Worker {
  /** Where reads of all connections without a body in progress land; consumed within `onRead`. */
  readonly landing = Buffer.allocUnsafeSlow(READ_BYTES);
  /** Where heads are written. */
  scratch = newScratch(SCRATCH_BYTES);
  readonly piece = new Piece();
  readonly form = new ResponseForm();
  readonly runner: ExchangeRunner;
  readonly wheel: TimerWheel;
  readonly counters: Counters;
  readonly buffers: BufferPool;
  readonly timeouts: DownstreamTimeouts;
  readonly http2: Http2Takeover | undefined;
  /** Called with a connection that is no longer served. */
  readonly closed: (connection: Http1DownstreamConnection) => void;
  /** Connections close after the response in progress. */
  draining = false;
  readonly #heads: RawRequestHead[] = [];

  constructor(options: {
    readonly runner: ExchangeRunner;
    readonly wheel: TimerWheel;
    readonly counters: Counters;
    readonly buffers: BufferPool;
    readonly timeouts: DownstreamTimeouts;
    readonly http2?: Http2Takeover;
    readonly closed: (connection: Http1DownstreamConnection) => void;
  }) {
    this.runner = options.runner;
    this.wheel = options.wheel;
    this.counters = options.counters;
    this.buffers = options.buffers;
    this.timeouts = options.timeouts;
    this.http2 = options.http2;
    this.closed = options.closed;
  }

  count(cell: number, by: number): void {
    this.counters[cell] = (this.counters[cell] ?? 0) + by;
  }

  connectionBegins(): void {
    this.count(counter.DOWNSTREAM_CONNECTIONS_ACTIVE, 1);
    this.count(counter.DOWNSTREAM_CONNECTIONS_TOTAL, 1);
  }

  requestBegins(): void {
    this.count(counter.DOWNSTREAM_REQUESTS_TOTAL, 1);
    this.count(counter.DOWNSTREAM_REQUESTS_ACTIVE, 1);
  }

  takeHead(): RawRequestHead {
    return this.#heads.pop() ?? new RawRequestHead();
  }

  giveHead(head: RawRequestHead): void {
    if (this.#heads.length < KEPT_HEADS) this.#heads.push(head);
  }

  /** The wire keeps the first `end` bytes of the scratch until its write is done. */
  leaveScratch(end: number): void {
    this.scratch = nextScratch(this.scratch, end);
  }
}
