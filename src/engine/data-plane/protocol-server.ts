import { Http1Server, type Http1ServerOptions } from '../http1/http1-server.js';
import {
  DEFAULT_MAX_CONCURRENT_STREAMS,
  Http2DownstreamConnection,
  type Http2DownstreamOptions,
} from '../http2/downstream-connection.js';
import type { DownstreamContext } from '../exchange/downstream.js';
import type { ConnectionCounts, ProtocolServers } from '../listeners/connection-acceptor.js';
import type { Connection } from '../wire/wire.js';

const IDLE_MS = 75_000;
const WRITE_MS = 60_000;
const QUIET_MS = 60_000;

/** HTTP/1.1 and HTTP/2 towards clients, side by side. */
export class ProtocolServer implements ProtocolServers {
  readonly #http1: Http1Server;
  readonly #http2 = new Set<Http2DownstreamConnection>();
  readonly #http2Options: Http2DownstreamOptions;
  readonly #counts: ConnectionCounts;
  #draining = false;

  constructor(options: Http1ServerOptions, counts: ConnectionCounts) {
    this.#counts = counts;
    this.#http2Options = {
      runner: options.runner,
      wheel: options.wheel,
      maxConcurrentStreams: DEFAULT_MAX_CONCURRENT_STREAMS,
      idleMs: IDLE_MS,
      writeMs: WRITE_MS,
      quietMs: QUIET_MS,
    };
    this.#http1 = new Http1Server({
      ...options,
      http2: (connection, context, received) => {
        this.http2(connection, context, received);
      },
      onClosed: ({ listener }) => {
        counts.closed(listener);
      },
    });
  }

  http1(connection: Connection, context: DownstreamContext, received: Buffer): void {
    this.#counts.opened(context.listener);
    this.#http1.serve(connection, context, received);
  }

  http2(connection: Connection, context: DownstreamContext, received: Buffer): void {
    this.#counts.opened(context.listener);
    const served = new Http2DownstreamConnection(connection, context, this.#http2Options, () => {
      this.#http2.delete(served);
      this.#counts.closed(context.listener);
    });
    this.#http2.add(served);
    served.start(received);
    if (this.#draining) served.drain();
  }

  /** Connections that are open. */
  get size(): number {
    return this.#http1.size + this.#http2.size;
  }

  /** Idle connections close now, the others when what they carry has ended. */
  drain(): void {
    this.#draining = true;
    this.#http1.drain();
    for (const connection of this.#http2) connection.drain();
  }

  close(): void {
    this.#http1.close();
    for (const connection of [...this.#http2]) connection.destroy();
  }
}
