/**
 * HTTP/1.1 towards clients.
 *
 * In: accepted connections (after TLS and PROXY headers) with their contexts. Out: exchanges at an
 * {@link ExchangeRunner}. It must not know routes, filters, caches or backends.
 */
import type { Counters } from '../../telemetry/engine-counters.js';
import type { DownstreamContext } from '../exchange/downstream.js';
import type { ExchangeRunner } from '../exchange/exchange-runner.js';
import type { TimerWheel } from '../exchange/timer-wheel.js';
import type { Connection } from '../wire/wire.js';
import type { BufferPool } from '../wire/buffer-pool.js';
import { Http1DownstreamConnection } from './downstream-connection.js';
import {
  DEFAULT_DOWNSTREAM_TIMEOUTS,
  Http1Worker,
  type DownstreamTimeouts,
  type Http2Takeover,
} from './http1-worker.js';

export interface Http1ServerOptions {
  readonly runner: ExchangeRunner;
  readonly wheel: TimerWheel;
  readonly counters: Counters;
  readonly buffers: BufferPool;
  readonly timeouts?: DownstreamTimeouts;
  /** Takes over clear-text connections that begin with the preface of HTTP/2; absent: they are refused with 505. */
  readonly http2?: Http2Takeover;
  /** Hears of every connection that is no longer served here: it has closed, or HTTP/2 has taken it over. */
  readonly onClosed?: (context: DownstreamContext) => void;
}

/** The HTTP/1.1 client connections of a worker. */
export class Http1Server {
  readonly #worker: Http1Worker;
  readonly #connections = new Set<Http1DownstreamConnection>();

  constructor(options: Http1ServerOptions) {
    const { onClosed, timeouts = DEFAULT_DOWNSTREAM_TIMEOUTS } = options;
    const closed = (connection: Http1DownstreamConnection): void => {
      this.#connections.delete(connection);
      onClosed?.(connection.context);
    };
    this.#worker = new Http1Worker({ ...options, timeouts, closed });
  }

  /** Connections that are open. */
  get size(): number {
    return this.#connections.size;
  }

  /** Serves a connection from now on; `received` are bytes that were read from it already. */
  serve(wire: Connection, context: DownstreamContext, received: Buffer = EMPTY): void {
    const connection = new Http1DownstreamConnection(this.#worker, wire, context);
    this.#connections.add(connection);
    connection.start(received);
  }

  /** Idle connections close now, the others after the response in progress, which says `Connection: close`. */
  drain(): void {
    this.#worker.draining = true;
    for (const connection of this.#connections) connection.drain();
  }

  /** Ends every connection at once. */
  close(): void {
    this.#worker.draining = true;
    for (const connection of [...this.#connections]) connection.destroy();
  }
}

const EMPTY = Buffer.alloc(0);
