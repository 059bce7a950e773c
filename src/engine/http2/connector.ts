import * as counter from '../../telemetry/engine-counters.js';
import type { Counters } from '../../telemetry/engine-counters.js';
import type { RequestHead } from '../exchange/heads.js';
import type { TimerWheel } from '../exchange/timer-wheel.js';
import type { EndpointConnector, OutboundRequest, UpstreamHandler } from '../exchange/upstream.js';
import type { Endpoint } from '../../ir/upstream.js';
import { NO_HANDLER } from '../wire/wire-faults.js';
import type { ClientTlsOptions, Wire } from '../wire/wire.js';
import type { WatchLimits } from './connection-watch.js';
import { Http2UpstreamConnection, type UpstreamConnectionOwner } from './upstream-connection.js';
import type { Http2UpstreamStream } from './upstream-stream.js';

export interface Http2ConnectorOptions {
  readonly wire: Wire;
  readonly endpoint: Endpoint;
  /** Time in ms to open a connection. */
  readonly connectTimeoutMs: number;
  /** HTTP/2 over TLS; `alpn` must be `['h2']`. Absent: h2c by prior knowledge. */
  readonly tls?: ClientTlsOptions;
  readonly wheel: TimerWheel;
  readonly counters: Counters;
  /** Connections that may be open at a time. */
  readonly maxConnections?: number;
  readonly limits?: WatchLimits;
}

const MAX_CONNECTIONS = 4;
/** Streams on every connection before another one is opened: fewer connections mean more frames in each write. */
const STREAMS_BEFORE_ANOTHER = 128;
const LIMITS: WatchLimits = { headMs: 10_000, idleMs: 90_000, writeMs: 60_000, quietMs: 30_000 };

/** Requests to one endpoint over a few multiplexed HTTP/2 connections. */
export class Http2Connector implements EndpointConnector, UpstreamConnectionOwner {
  readonly endpoint: Endpoint;
  active = 0;
  readonly #options: Http2ConnectorOptions;
  readonly #maxConnections: number;
  /** Those that take new streams. */
  #usable: Http2UpstreamConnection[] = [];
  readonly #all = new Set<Http2UpstreamConnection>();
  #retired = false;

  constructor(options: Http2ConnectorOptions) {
    this.endpoint = options.endpoint;
    this.#options = options;
    this.#maxConnections = options.maxConnections ?? MAX_CONNECTIONS;
  }

  open(request: OutboundRequest, handler: UpstreamHandler): Http2UpstreamStream {
    this.active++;
    this.#count(counter.UPSTREAM_REQUESTS_TOTAL);
    const connection = request.mayReuse ? this.#choose() : this.#connect();
    return connection.open(request, handler);
  }

  retire(): void {
    this.#retired = true;
    for (const connection of [...this.#usable]) connection.finish();
  }

  close(): void {
    this.#retired = true;
    for (const connection of [...this.#all]) connection.destroy();
  }

  /** The least loaded, or a new one when all are busy. */
  #choose(): Http2UpstreamConnection {
    let best: Http2UpstreamConnection | undefined;
    for (const connection of this.#usable) {
      if (best === undefined || connection.load < best.load) best = connection;
    }
    if (best === undefined) return this.#connect();
    const isBusy = best.load >= STREAMS_BEFORE_ANOTHER || !best.hasRoom;
    return isBusy && this.#usable.length < this.#maxConnections ? this.#connect() : best;
  }

  #connect(): Http2UpstreamConnection {
    const { wire, endpoint, connectTimeoutMs, tls, wheel, limits } = this.#options;
    const target = { address: endpoint.address, port: endpoint.port, timeoutMs: connectTimeoutMs };
    // No callback runs within the call, and the connection becomes the handler at once.
    const transport = wire.connect(tls ? { ...target, tls } : target, NO_HANDLER);
    const connection = new Http2UpstreamConnection(transport, this, {
      secure: tls !== undefined,
      wheel,
      limits: limits ?? LIMITS,
    });
    this.#all.add(connection);
    this.#usable.push(connection);
    return connection;
  }

  #count(index: number, by = 1): void {
    const { counters } = this.#options;
    counters[index] = (counters[index] ?? 0) + by;
  }

  // ---- what connections and streams tell

  onConnected(connection: Http2UpstreamConnection): void {
    this.#count(counter.UPSTREAM_CONNECTIONS_TOTAL);
    this.#count(counter.UPSTREAM_CONNECTIONS_ACTIVE);
    if (this.#retired) connection.finish();
  }

  onUnusable(connection: Http2UpstreamConnection): void {
    this.#usable = this.#usable.filter((usable) => usable !== connection);
  }

  onClosed(connection: Http2UpstreamConnection, wasConnected: boolean): void {
    this.#all.delete(connection);
    if (wasConnected) this.#count(counter.UPSTREAM_CONNECTIONS_ACTIVE, -1);
    else this.#count(counter.UPSTREAM_CONNECT_FAILURES);
  }

  restart(stream: Http2UpstreamStream, head: RequestHead): void {
    this.#choose().adopt(stream, head);
  }

  onStreamOver(): void {
    this.active--;
  }
}
