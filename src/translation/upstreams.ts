import type { EndpointSlice } from '../apis/core/endpoint-slice.js';
import type { Service } from '../apis/core/service.js';
import type { BackendTlsNode } from '../graph/backend-tls-policy.js';
import type { Upstream } from '../ir/upstream.js';
import { selectEndpoints } from './endpoints.js';
import type { UpstreamRequest } from './upstream-request.js';

/** Time in ms to open a connection to an endpoint. */
const CONNECT_TIMEOUT_MS = 5_000;

/** What an upstream is made from. */
interface UpstreamParts {
  readonly service: Service | undefined;
  readonly slices: readonly EndpointSlice[];
  /** The BackendTLSPolicy that governs the port. */
  readonly backendTls: BackendTlsNode | undefined;
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
  if (request.allowsTls && backendTls) {
    return { ...common, endpoints, ...secure(backendTls, request.clientCertificate) };
  }
  if (target.appProtocol === 'wss' && protocol === 'http') {
    const where = `Service ${target.namespace}/${target.service} port ${target.port}`;
    const reason = `${where} speaks kubernetes.io/wss but no BackendTLSPolicy says whom to trust`;
    return { ...common, endpoints, refusal: { status: 500, reason } };
  }
  return { ...common, endpoints };
}

/** When the policy is unusable nothing may be sent, least of all in clear text. */
function secure(
  { id, tls, accepted }: BackendTlsNode,
  clientCertificate: string | undefined,
): Pick<Upstream, 'tls' | 'refusal'> {
  if (!tls) return { refusal: { status: 500, reason: `BackendTLSPolicy ${id}: ${accepted.message}` } };
  return { tls: { ...tls, ...(clientCertificate !== undefined && { clientCertificate }) } };
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
