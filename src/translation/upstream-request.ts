import type { BackendTarget } from '../graph/backend-ref.js';
import { sortedBy } from '../util/collections.js';
import type { Upstream } from '../ir/upstream.js';

/** An upstream that something refers to; what it consists of is found out apart from routes, so that endpoints can change alone. */
export interface UpstreamRequest {
  readonly key: string;
  readonly target: BackendTarget;
  readonly protocol: Upstream['protocol'];
  /** `service` dials the ClusterIP. */
  readonly routingMode: 'endpoint' | 'service';
  /** Whether a BackendTLSPolicy of the Service applies: not to bytes that are relayed as they are. */
  readonly allowsTls: boolean;
  /** Key of the certificate to present when TLS is spoken. */
  readonly clientCertificate?: string;
}

/** Each upstream once, sorted by key. */
export function distinctRequests(requests: readonly UpstreamRequest[]): readonly UpstreamRequest[] {
  return sortedBy(new Map(requests.map((request) => [request.key, request])).values(), ({ key }) => key);
}

/** What of a Gateway shapes the upstreams of its routes. */
export interface UpstreamTraits {
  readonly routingMode: 'endpoint' | 'service';
  readonly clientCertificate?: string;
}

/** Names upstreams for one user of them and remembers which were named. */
export class UpstreamNames {
  readonly #traits: UpstreamTraits;
  readonly #requests = new Map<string, UpstreamRequest>();

  constructor(traits: UpstreamTraits) {
    this.#traits = traits;
  }

  /** Sorted by key. */
  get requests(): readonly UpstreamRequest[] {
    return [...this.#requests.keys()].sort().flatMap((key) => this.#requests.get(key) ?? []);
  }

  /** For HTTPRoutes: appProtocol decides (GEP-1911). */
  http(target: BackendTarget): string {
    return target.appProtocol === 'h2c'
      ? this.#name(target, 'h2c', { suffix: '/h2c', allowsTls: true })
      : this.#name(target, 'http', { suffix: target.appProtocol === 'wss' ? '/wss' : '', allowsTls: true });
  }

  /** gRPC is HTTP/2 whatever appProtocol says. */
  grpc(target: BackendTarget): string {
    return this.#name(target, 'h2c', { suffix: '/h2c', allowsTls: true });
  }

  /** TLS has ended at the gateway: bytes may be encrypted again. */
  terminated(target: BackendTarget): string {
    return this.#name(target, 'stream', { suffix: '/stream', allowsTls: true });
  }

  /** Bytes or datagrams as they came. */
  relayed(target: BackendTarget): string {
    return this.#name(target, 'stream', { suffix: '/relay', allowsTls: false });
  }

  #name(
    target: BackendTarget,
    protocol: Upstream['protocol'],
    { suffix, allowsTls }: { readonly suffix: string; readonly allowsTls: boolean },
  ): string {
    const { routingMode } = this.#traits;
    const clientCertificate = allowsTls ? this.#traits.clientCertificate : undefined;
    const key = [
      `Service/${target.namespace}/${target.service}/${target.port}`,
      suffix,
      target.transport === 'UDP' ? '/udp' : '',
      routingMode === 'service' ? '/cluster-ip' : '',
      clientCertificate === undefined ? '' : `/as/${clientCertificate}`,
    ].join('');
    this.#requests.set(key, {
      key,
      target,
      protocol,
      routingMode,
      allowsTls,
      ...(clientCertificate !== undefined && { clientCertificate }),
    });
    return key;
  }
}
