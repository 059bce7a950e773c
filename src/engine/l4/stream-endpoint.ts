import type { Endpoint, Upstream } from '../../ir/upstream.js';
import { addressOf, type Connector } from '../upstream/balanced-upstream.js';
import type { ClientTlsOptions } from '../wire/wire.js';

/** A relay or a session: it hears whether its endpoint is still one. */
export interface EndpointUser {
  onEndpointGone(): void;
  /** Gone and come back, as an endpoint does that was not ready for a moment. */
  onEndpointBack(): void;
}

/** An endpoint that bytes or datagrams are sent to, and who sends them. */
export class StreamEndpoint implements Connector {
  readonly endpoint: Endpoint;
  readonly tls: ClientTlsOptions | undefined;
  connectTimeoutMs: number;
  readonly #users = new Set<EndpointUser>();
  readonly #onIdle: (endpoint: StreamEndpoint) => void;
  readonly #onRetired: (endpoint: StreamEndpoint) => void;
  #retired = false;

  constructor(
    reached: Pick<StreamEndpoint, 'endpoint' | 'tls' | 'connectTimeoutMs'>,
    hooks: {
      readonly onRetired: (endpoint: StreamEndpoint) => void;
      /** It was retired, and nobody uses it any more. */
      readonly onIdle: (endpoint: StreamEndpoint) => void;
    },
  ) {
    this.endpoint = reached.endpoint;
    this.tls = reached.tls;
    this.connectTimeoutMs = reached.connectTimeoutMs;
    this.#onRetired = hooks.onRetired;
    this.#onIdle = hooks.onIdle;
  }

  add(user: EndpointUser): void {
    this.#users.add(user);
  }

  remove(user: EndpointUser): void {
    this.#users.delete(user);
    if (this.#retired && this.#users.size === 0) this.#onIdle(this);
  }

  retire(): void {
    if (this.#retired) return;
    this.#retired = true;
    if (this.#users.size === 0) return;
    this.#onRetired(this);
    for (const user of [...this.#users]) user.onEndpointGone();
  }

  revive(): void {
    this.#retired = false;
    for (const user of this.#users) user.onEndpointBack();
  }

  close(): void {
    // Relays and sessions are ended by who keeps them, whatever their endpoints.
    this.#retired = true;
  }
}

/** The endpoints of a worker; one that is used while it is away is the same when it comes back. */
export class StreamEndpoints {
  readonly #leaving = new Map<string, StreamEndpoint>();

  create(
    { key, connectTimeoutMs }: Upstream,
    endpoint: Endpoint,
    tls: ClientTlsOptions | undefined,
  ): StreamEndpoint {
    const name = `${key}|${addressOf(endpoint)}`;
    const leaving = this.#leaving.get(name);
    // With other TLS it is not the same: what is connected was verified by other rules.
    if (leaving?.tls === tls && leaving) {
      this.#leaving.delete(name);
      leaving.connectTimeoutMs = connectTimeoutMs;
      leaving.revive();
      return leaving;
    }
    return new StreamEndpoint(
      { endpoint, tls, connectTimeoutMs },
      {
        onRetired: (retired) => this.#leaving.set(name, retired),
        onIdle: (idle) => {
          if (this.#leaving.get(name) === idle) this.#leaving.delete(name);
        },
      },
    );
  }
}
