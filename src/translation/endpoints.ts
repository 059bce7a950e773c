import type { EndpointSlice } from '../apis/core/endpoint-slice.js';
import type { Service } from '../apis/core/service.js';
import type { BackendTarget } from '../graph/backend-ref.js';
import type { Endpoint } from '../ir/upstream.js';
import { compareText } from '../util/collections.js';

/** A dual-stack Service lists every pod once in each family; counting both would weigh it twice. */
type Family = 'IPv4' | 'IPv6';

interface Candidate extends Endpoint {
  readonly family: Family;
  readonly isReady: boolean;
  /** Still answers while it ends. */
  readonly isLeaving: boolean;
}

/** The endpoints of a Service port: the ready ones, or, when there are none, those that still serve while they terminate. */
export function selectEndpoints(
  target: BackendTarget,
  service: Service | undefined,
  slices: readonly EndpointSlice[],
): readonly Endpoint[] {
  const candidates = slices.flatMap((slice) => candidatesOf(slice, target));
  const ready = candidates.filter(({ isReady }) => isReady);
  const usable = ready.length > 0 ? ready : candidates.filter(({ isLeaving }) => isLeaving);
  const family = preferredFamily(service);
  const preferred = usable.filter((one) => one.family === family);
  return distinct(preferred.length > 0 ? preferred : usable);
}

function candidatesOf(slice: EndpointSlice, target: BackendTarget): readonly Candidate[] {
  const { addressType, endpoints, ports } = slice;
  // Names are not dialled: an address of a slice may point past every policy.
  if (addressType !== 'IPv4' && addressType !== 'IPv6') return [];
  // The port's name ties slice and Service together, its number may differ from pod to pod.
  const port = ports.find(({ name, protocol }) => name === target.portName && protocol === target.transport);
  if (port?.port === undefined) return [];
  const number = port.port;
  return endpoints.flatMap(({ addresses: [address], conditions = {} }) => {
    if (address === undefined) return [];
    const { ready = true, serving = ready, terminating = false } = conditions;
    return [
      {
        address,
        port: number,
        family: addressType,
        isReady: ready,
        isLeaving: serving && terminating,
      },
    ];
  });
}

function preferredFamily(service: Service | undefined): Family {
  const [first = service?.spec.clusterIP] = service?.spec.clusterIPs ?? [];
  return first?.includes(':') === true ? 'IPv6' : 'IPv4';
}

/** Sorted by address, then port; the same endpoint may stand in two slices while they are rebalanced. */
function distinct(candidates: readonly Candidate[]): readonly Endpoint[] {
  const byKey = new Map(candidates.map(({ address, port }) => [`${address}|${port}`, { address, port }]));
  return [...byKey.values()].sort((a, b) => compareText(a.address, b.address) || a.port - b.port);
}
