import type { Endpoint } from '../../ir/upstream.js';
import * as counter from '../../telemetry/engine-counters.js';
import type {
  EndpointConnector,
  OutboundRequest,
  UpstreamHandler,
  UpstreamStream,
} from '../exchange/upstream.js';
import type { ClientTlsOptions, WireError } from '../wire/wire.js';
import type { ConnectionOwner } from './connection-owner.js';
import type { Http1UpstreamWorker } from './http1-upstream-worker.js';
import { Http1UpstreamConnection } from './upstream-connection.js';

/** How an endpoint is reached. */
export interface ConnectorOptions {
  readonly endpoint: Endpoint;
  readonly connectTimeoutMs: number;
  readonly tls?: ClientTlsOptions;
}

/** Idle connections to one endpoint that are kept. */
const MAX_IDLE = 256;
const IDLE_MS = 60_000;

/**
 * The HTTP/1.1 connections of a worker to one endpoint. The one used last is used first, so that those beyond the need
 * grow old and close.
 */
export class Http1Connector implements EndpointConnector, ConnectionOwner {
  readonly endpoint: Endpoint;
  active = 0;
  readonly #worker: Http1UpstreamWorker;
  readonly #options: ConnectorOptions;
  readonly #idle: Http1UpstreamConnection[] = [];
  readonly #all = new Set<Http1UpstreamConnection>();
  #retired = false;

  constructor(worker: Http1UpstreamWorker, options: ConnectorOptions) {
    this.#worker = worker;
    this.#options = options;
    this.endpoint = options.endpoint;
  }

  open(request: OutboundRequest, handler: UpstreamHandler): UpstreamStream {
    this.active++;
    this.#worker.count(counter.UPSTREAM_REQUESTS_TOTAL, 1);
    const idle = request.mayReuse ? this.#idle.pop() : undefined;
    const connection = idle ?? this.#connect();
    connection.begin(request, handler);
    return connection;
  }

  retire(): void {
    this.#retired = true;
    for (const connection of [...this.#all]) connection.retire();
  }

  close(): void {
    this.#retired = true;
    for (const connection of [...this.#all]) connection.close();
  }

  onIdle(connection: Http1UpstreamConnection): void {
    const { length } = this.#idle;
    if (this.#retired || length >= MAX_IDLE) {
      connection.retire();
      return;
    }
    this.#idle.push(connection);
    connection.park(idleMsOf(connection.keepAliveSeconds));
  }

  onGone(connection: Http1UpstreamConnection): void {
    this.#all.delete(connection);
    const at = this.#idle.indexOf(connection);
    if (at >= 0) this.#idle.splice(at, 1);
  }

  onRequestOver(): void {
    this.active--;
  }

  kindOf(error: WireError | undefined): 'connect' | 'tls' {
    if (!this.#options.tls || !error) return 'connect';
    return /^E[A-Z]+$/.test(error.code) ? 'connect' : 'tls';
  }

  #connect(): Http1UpstreamConnection {
    const { endpoint, connectTimeoutMs, tls } = this.#options;
    const connection = new Http1UpstreamConnection(this.#worker, this, endpoint);
    this.#all.add(connection);
    connection.connect((handler) =>
      this.#worker.wire.connect(
        { address: endpoint.address, port: endpoint.port, timeoutMs: connectTimeoutMs, ...(tls && { tls }) },
        handler,
      ),
    );
    return connection;
  }
}

/** Shorter than what the backend says it keeps it (case B-11): it must not close while our request is on its way. */
function idleMsOf(keepAliveSeconds: number): number {
  if (keepAliveSeconds === 0) return IDLE_MS;
  return Math.min(IDLE_MS, Math.max(keepAliveSeconds * 1000 - 1000, keepAliveSeconds * 500));
}
