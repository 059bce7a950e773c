import type { Endpoint, Upstream } from '../../ir/upstream.js';
import type { EndpointConnector, Unavailable } from '../exchange/upstream.js';
import type { ClientTlsOptions } from '../wire/wire.js';

/** What every way of reaching an endpoint has in common. */
export type Connector = Pick<EndpointConnector, 'endpoint' | 'retire' | 'close'>;

/** Makes what reaches an endpoint in the protocol of its upstream. */
export type ConnectorFactory<C extends Connector = EndpointConnector> = (
  upstream: Upstream,
  endpoint: Endpoint,
  tls: ClientTlsOptions | undefined,
) => C;

/** What an upstream is now: its endpoints, or why no request may be sent. */
export interface UpstreamState {
  readonly upstream: Upstream;
  readonly tls: ClientTlsOptions | undefined;
  /** Set when TLS was asked for and cannot be made: nothing is ever sent in the clear instead. */
  readonly fault: string | undefined;
}

/**
 * One upstream of a worker through all its revisions. Endpoints that stay keep their connections; those that go finish
 * what is in flight.
 */
export class BalancedUpstream<C extends Connector = EndpointConnector> {
  readonly key: string;
  readonly #create: ConnectorFactory<C>;
  #state: UpstreamState;
  #connectors: readonly C[] = [];
  readonly #byAddress = new Map<string, C>();
  #unavailable: Unavailable | undefined;
  #turn = 0;

  constructor(state: UpstreamState, create: ConnectorFactory<C>) {
    this.key = state.upstream.key;
    this.#create = create;
    this.#state = state;
    this.#rebuild(state);
  }

  /** Takes over a new state of the same key. */
  update(state: UpstreamState): void {
    const before = this.#state;
    this.#state = state;
    // Another protocol or other TLS: what is connected already was verified by other rules.
    const isOtherTransport =
      state.tls !== before.tls ||
      state.upstream.protocol !== before.upstream.protocol ||
      state.upstream.connectTimeoutMs !== before.upstream.connectTimeoutMs;
    if (isOtherTransport) this.#retireAll();
    this.#rebuild(state);
  }

  choose(preferred: string | undefined, avoided: Endpoint | undefined): C | Unavailable {
    if (this.#unavailable) return this.#unavailable;
    if (preferred !== undefined) {
      const connector = this.#byAddress.get(preferred);
      if (connector) return connector;
    }
    const { length } = this.#connectors;
    const connector = this.#connectors[this.#turn % length];
    this.#turn = (this.#turn + 1) % length;
    if (connector && avoided && connector.endpoint === avoided && length > 1)
      return this.choose(undefined, undefined);
    return connector ?? NO_ENDPOINT;
  }

  /** The upstream is no longer of the configuration. */
  retire(): void {
    this.#unavailable = NO_ENDPOINT;
    this.#retireAll();
  }

  /** Ends every connection at once. */
  close(): void {
    this.#unavailable = NO_ENDPOINT;
    for (const connector of this.#byAddress.values()) connector.close();
    this.#byAddress.clear();
  }

  #rebuild({ upstream, tls, fault }: UpstreamState): void {
    this.#unavailable = unavailabilityOf(upstream, fault);
    const gone = new Map(this.#byAddress);
    const connectors: C[] = [];
    if (!upstream.refusal && fault === undefined) {
      for (const endpoint of upstream.endpoints) {
        const address = addressOf(endpoint);
        const connector = gone.get(address) ?? this.#create(upstream, endpoint, tls);
        gone.delete(address);
        this.#byAddress.set(address, connector);
        connectors.push(connector);
      }
    }
    for (const [address, connector] of gone) {
      this.#byAddress.delete(address);
      connector.retire();
    }
    this.#connectors = connectors;
    this.#turn %= Math.max(connectors.length, 1);
  }

  #retireAll(): void {
    for (const connector of this.#byAddress.values()) connector.retire();
    this.#byAddress.clear();
    this.#connectors = [];
  }
}

const NO_ENDPOINT: Unavailable = { status: 503, reason: 'the upstream has no endpoint' };

/** `address:port`: the name of an endpoint in session persistence. */
export function addressOf(endpoint: Endpoint): string {
  return `${endpoint.address}:${endpoint.port}`;
}

function unavailabilityOf(upstream: Upstream, fault: string | undefined): Unavailable | undefined {
  if (upstream.refusal) return upstream.refusal;
  if (fault !== undefined) return { status: 500, reason: fault };
  return upstream.endpoints.length === 0 ? NO_ENDPOINT : undefined;
}
