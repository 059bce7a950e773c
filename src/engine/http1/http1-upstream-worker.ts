import type { Counters } from '../../telemetry/engine-counters.js';
import { Piece } from '../exchange/piece.js';
import type { TimerWheel } from '../exchange/timer-wheel.js';
import type { Wire } from '../wire/wire.js';
import type { BufferPool } from '../wire/buffer-pool.js';
import { RawResponseHead } from './raw-heads.js';
import { newScratch, nextScratch } from './scratch.js';

/** Heads of requests, with a small body behind. */
const SCRATCH_BYTES = 128 * 1024;

/**
 * What the HTTP/1.1 connections to backends of a worker share; used within one call, nothing is kept across returns to the
 * event loop except buffers that a connection has taken for itself.
 */
export class Http1UpstreamWorker {
  readonly wire: Wire;
  readonly wheel: TimerWheel;
  readonly counters: Counters;
  readonly buffers: BufferPool;
  /** Where heads are written. */
  scratch = newScratch(SCRATCH_BYTES);
  readonly head = new RawResponseHead();
  readonly piece = new Piece();
  /** Where idle connections without a buffer read: whatever comes there is one byte too many. */
  readonly trap = Buffer.allocUnsafeSlow(64);

  constructor(options: {
    readonly wire: Wire;
    readonly wheel: TimerWheel;
    readonly counters: Counters;
    readonly buffers: BufferPool;
  }) {
    this.wire = options.wire;
    this.wheel = options.wheel;
    this.counters = options.counters;
    this.buffers = options.buffers;
  }

  count(cell: number, by: number): void {
    this.counters[cell] = (this.counters[cell] ?? 0) + by;
  }

  /** The wire keeps the first `end` bytes of the scratch until its write is done. */
  leaveScratch(end: number): void {
    this.scratch = nextScratch(this.scratch, end);
  }
}
