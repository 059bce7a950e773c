import type { Listener } from '../../ir/listener.js';
import type { Certificate } from '../../ir/tls.js';
import type { Upstream } from '../../ir/upstream.js';
import { DatagramListener, type DatagramServices } from '../l4/datagram-listener.js';
import type { RelayServices } from '../l4/relay-services.js';
import { StreamEndpoints, type StreamEndpoint } from '../l4/stream-endpoint.js';
import { StreamRelays } from '../l4/stream-relays.js';
import type { StreamServer } from '../listeners/connection-acceptor.js';
import { UpstreamRegistry } from '../upstream/upstream-registry.js';
import type { SecureContexts } from '../wire/tls/secure-contexts.js';

type StreamPlaneInit = Omit<RelayServices, 'upstreams'> &
  Omit<DatagramServices, 'upstreams'> & { readonly contexts: SecureContexts };

/** TCP, TLS that carries no HTTP, and UDP, side by side, with the upstreams they share. */
export class StreamPlane implements StreamServer {
  readonly #services: RelayServices & DatagramServices;
  readonly #relays: StreamRelays;

  constructor(init: StreamPlaneInit) {
    const endpoints = new StreamEndpoints();
    const upstreams = new UpstreamRegistry<StreamEndpoint>(init.contexts, (upstream, endpoint, tls) =>
      endpoints.create(upstream, endpoint, tls),
    );
    this.#services = { ...init, upstreams };
    this.#relays = new StreamRelays(this.#services);
  }

  /** Upstreams of other protocols are left alone. */
  apply(upstreams: readonly Upstream[], certificates: ReadonlyMap<string, Certificate>): void {
    this.#services.upstreams.apply(
      upstreams.filter(({ protocol }) => protocol === 'stream'),
      certificates,
    );
  }

  relay(...connection: Parameters<StreamServer['relay']>): void {
    this.#relays.relay(...connection);
  }

  openDatagrams(listener: Listener): Promise<DatagramListener> {
    return DatagramListener.open(listener, this.#services);
  }

  /** Relays that are open. Sessions end with their sockets. */
  get size(): number {
    return this.#relays.size;
  }

  close(): void {
    this.#relays.close();
    this.#services.upstreams.close();
  }
}
