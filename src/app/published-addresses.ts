import type { ClusterSnapshot } from '../apis/cluster-snapshot.js';
import type { Service } from '../apis/core/index.js';
import type { PublishedAddresses } from '../graph/addresses.js';
import type { StatusAddress } from '../graph/status-plan.js';
import { parseIp } from '../util/ip-range.js';

/**
 * Addresses of the published Service: what its load balancer says, or without a load balancer its cluster IPs.
 * Undefined when none is configured; empty while it has none.
 */
export function publishedAddresses(
  { Service }: ClusterSnapshot,
  published: { readonly namespace: string; readonly name: string } | undefined,
): PublishedAddresses {
  if (!published) return undefined;
  const service = Service.get(`${published.namespace}/${published.name}`);
  return service ? addressesOf(service).filter(isAddress).map(toStatusAddress) : [];
}

function addressesOf({ spec, status }: Service): readonly string[] {
  const ingress = (status?.loadBalancer?.ingress ?? []).flatMap(({ ip, hostname }) => ip ?? hostname ?? []);
  if (ingress.length > 0 || spec.type === 'LoadBalancer') return ingress;
  return spec.clusterIPs ?? [spec.clusterIP ?? ''];
}

function isAddress(address: string): boolean {
  return address !== '' && address !== 'None';
}

function toStatusAddress(value: string): StatusAddress {
  return { type: parseIp(value) ? 'IPAddress' : 'Hostname', value };
}
