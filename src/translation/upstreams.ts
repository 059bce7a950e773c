import type { EndpointSlice } from '../apis/core/endpoint-slice.js';
import type { Service } from '../apis/core/service.js';
import type { Refusal, Upstream } from '../ir/upstream.js';
import type { UpstreamTls } from '../ir/tls.js';
import { selectEndpoints } from './endpoints.js';
import type { UpstreamRequest } from './upstream-request.js';

/** Time in ms to open a connection to an endpoint. */
const CONNECT_TIMEOUT_MS = 5_000;

/** What a BackendTLSPolicy says about a port of a Service. */
export type BackendTls =
  | { readonly tls: Omit<UpstreamTls, 'clientCertificate'> }
  /** It is unusable: nothing may be sent, least of all in clear text. */
  | { readonly refusal: Refusal };

/** What an upstream is made from. */
export interface UpstreamParts {
  readonly service: Service | undefined;
  readonly slices: readonly EndpointSlice[];
  readonly backendTls: BackendTls | undefined;
}

export function toUpstream(
  request: UpstreamRequest,
  { service, slices, backendTls }: UpstreamParts,
): Upstream {
  const { key, protocol, target } = request;
  const common = { key, protocol, loadBalancing: 'rr', connectTimeoutMs: CONNECT_TIMEOUT_MS } as const;
  const endpoints =
    request.routingMode === 'service'
      ? toClusterIp(request, service, slices)
      : selectEndpoints(target, service, slices);
  const tls = request.allowsTls ? backendTls : undefined;
  if (tls && 'refusal' in tls) return { ...common, endpoints, refusal: tls.refusal };
  if (tls) {
    const { clientCertificate } = request;
    return {
      ...common,
      endpoints,
      tls: { ...tls.tls, ...(clientCertificate !== undefined && { clientCertificate }) },
    };
  }
  if (target.appProtocol === 'wss' && protocol === 'http') {
    const where = `Service ${target.namespace}/${target.service} port ${target.port}`;
    const reason = `${where} speaks kubernetes.io/wss but no BackendTLSPolicy says whom to trust`;
    return { ...common, endpoints, refusal: { status: 500, reason } };
  }
  return { ...common, endpoints };
}

/** A headless Service has no address of its own, so its endpoints are dialled in both modes. */
function toClusterIp(
  { target }: UpstreamRequest,
  service: Service | undefined,
  slices: readonly EndpointSlice[],
): Upstream['endpoints'] {
  const address = service?.spec.clusterIP;
  return address === undefined || address === '' || address === 'None'
    ? selectEndpoints(target, service, slices)
    : [{ address, port: target.port }];
}
