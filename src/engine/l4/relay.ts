import type { Endpoint } from '../../ir/upstream.js';
import * as counter from '../../telemetry/engine-counters.js';
import { Timer } from '../exchange/timer-wheel.js';
import { isUnavailable } from '../exchange/upstream.js';
import type { BalancedUpstream } from '../upstream/balanced-upstream.js';
import { RECEIVED, SENT, type ForwardedBytes } from '../wire/forwarder.js';
import { PENDING, type Connection, type WireError } from '../wire/wire.js';
import type { RelayServices } from './relay-services.js';
import { RelaySide, type RelayOwner } from './relay-side.js';
import type { EndpointUser, StreamEndpoint } from './stream-endpoint.js';

/** Endpoints that are tried for one connection. */
const MAX_ATTEMPTS = 3;
/** Time in ms that a relay goes on after its endpoint was removed (case N-07). */
const REMOVED_ENDPOINT_MS = 60_000;

export interface RelayInit {
  readonly listener: string;
  /** Undefined: the client is turned away. */
  readonly upstream: BalancedUpstream<StreamEndpoint> | undefined;
  readonly onOver: (relay: Relay) => void;
}

/**
 * Carries bytes between a client and an endpoint, each direction by itself, until both have ended or one breaks.
 *
 * The endpoint is connected to at once: with many protocols the server speaks first. There is no idle timeout.
 */
export class Relay extends Timer implements RelayOwner, EndpointUser {
  readonly #services: RelayServices;
  readonly #init: RelayInit;
  readonly #bytes: ForwardedBytes;
  readonly #client: RelaySide;
  /** What the client has sent before it came here. */
  #received: Buffer;
  #upstream: RelaySide | undefined;
  #endpoint: StreamEndpoint | undefined;
  #attempts = 0;
  #established = false;

  constructor(services: RelayServices, init: RelayInit, client: Connection, received: Buffer) {
    super();
    this.#services = services;
    this.#init = init;
    this.#received = received;
    this.#bytes = services.counts.bytes(init.listener);
    this.#client = new RelaySide(this, {
      bytes: this.#bytes,
      direction: RECEIVED,
      connect: (handler) => {
        client.handler = handler;
        return client;
      },
    });
  }

  start(): void {
    this.#services.counts.opened(this.#init.listener);
    this.#client.connection.pause();
    this.#connect(undefined);
  }

  /** Ends both connections at once. */
  close(): void {
    this.#client.connection.reset();
    if (this.#established) this.#upstream?.connection.reset();
    else this.#upstream?.connection.destroy();
  }

  sideConnected(upstream: RelaySide): void {
    const { buffers, counters } = this.#services;
    this.#established = true;
    count(counters, counter.UPSTREAM_CONNECTIONS_ACTIVE, 1);
    count(counters, counter.UPSTREAM_CONNECTIONS_TOTAL, 1);
    const client = this.#client;
    client.joinTo(upstream.connection, buffers);
    upstream.joinTo(client.connection, buffers);
    const received = this.#received;
    this.#received = NOTHING;
    this.#bytes[RECEIVED] = (this.#bytes[RECEIVED] ?? 0) + received.length;
    const isTaken = received.length === 0 || upstream.connection.write(received) !== PENDING;
    if (client.ended) upstream.connection.end();
    else if (isTaken) client.connection.resume();
    upstream.connection.resume();
  }

  /** Each direction ends by itself (case N-03). */
  sideEnded(side: RelaySide): void {
    if (this.#established) this.#otherOf(side)?.connection.end();
  }

  sideClosed(side: RelaySide, error: WireError | undefined): void {
    const other = this.#otherOf(side);
    if (side !== this.#client && !this.#established) this.#connectFailed();
    else if (!other || other.closed) this.#finish();
    else if (!this.#established) other.connection.destroy();
    // After both FINs each connection closes by itself, once it has sent everything.
    else if (error !== undefined || !side.ended || !other.ended) other.connection.reset();
  }

  onEndpointGone(): void {
    this.#services.wheel.arm(this, REMOVED_ENDPOINT_MS);
  }

  onEndpointBack(): void {
    this.#services.wheel.disarm(this);
  }

  override expire(): void {
    this.close();
  }

  #connect(failed: Endpoint | undefined): void {
    const { wire } = this.#services;
    const choice = this.#init.upstream?.choose(undefined, failed);
    const isHopeless = !choice || isUnavailable(choice) || choice.endpoint === failed;
    if (isHopeless || this.#attempts === MAX_ATTEMPTS) {
      // Not an orderly end, which might be taken for an empty answer.
      this.#client.connection.reset();
      return;
    }
    this.#attempts++;
    this.#endpoint = choice;
    choice.add(this);
    const { endpoint, tls, connectTimeoutMs } = choice;
    this.#upstream = new RelaySide(this, {
      bytes: this.#bytes,
      direction: SENT,
      connect: (handler) =>
        wire.connect(
          {
            address: endpoint.address,
            port: endpoint.port,
            timeoutMs: connectTimeoutMs,
            ...(tls && { tls }),
          },
          handler,
        ),
    });
  }

  #connectFailed(): void {
    count(this.#services.counters, counter.UPSTREAM_CONNECT_FAILURES, 1);
    const failed = this.#endpoint;
    this.#leaveEndpoint();
    this.#upstream = undefined;
    if (this.#client.closed) this.#finish();
    else this.#connect(failed?.endpoint);
  }

  #finish(): void {
    const { counts, counters, buffers } = this.#services;
    if (this.#established) count(counters, counter.UPSTREAM_CONNECTIONS_ACTIVE, -1);
    this.#leaveEndpoint();
    this.#client.release(buffers);
    this.#upstream?.release(buffers);
    counts.closed(this.#init.listener);
    this.#init.onOver(this);
  }

  #leaveEndpoint(): void {
    this.#services.wheel.remove(this);
    this.#endpoint?.remove(this);
    this.#endpoint = undefined;
  }

  #otherOf(side: RelaySide): RelaySide | undefined {
    return side === this.#client ? this.#upstream : this.#client;
  }
}

const NOTHING = Buffer.alloc(0);

function count(counters: Float64Array, cell: number, by: number): void {
  counters[cell] = (counters[cell] ?? 0) + by;
}
