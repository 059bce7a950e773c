import type { Service } from '../apis/core/index.js';
import { parseObject } from '../apis/validate.js';
import { fieldPath, type FieldProblem } from '../apis/validation/field-problem.js';
import { groupBy } from '../util/collections.js';
import { parseIp } from '../util/ip-range.js';
import { objectKey, type ReadObject } from './read-document.js';

/** `host:port`, several separated by commas; `name=host:port` is for the Service's port of that name only. */
export const ENDPOINT_ANNOTATION = 'trickstercache.org/endpoint';

export interface ServiceEndpoints {
  readonly slices: readonly ReadObject[];
  readonly problems: readonly FieldProblem[];
}

interface Endpoint {
  /** Of the Service; absent: all of its ports. */
  readonly portName?: string;
  readonly version: 4 | 6;
  readonly address: string;
  readonly port: number;
}

export function isAnnotated({ metadata }: Service): boolean {
  return metadata.annotations?.[ENDPOINT_ANNOTATION] !== undefined;
}

/** The slices of a Service whose endpoints stand in its annotation: there is nobody else to make them from files. */
export function serviceEndpoints(service: Service): ServiceEndpoints {
  const text = service.metadata.annotations?.[ENDPOINT_ANNOTATION];
  if (text === undefined) return { slices: [], problems: [] };
  const items = text.split(/[,\s]+/).filter((item) => item !== '');
  const endpoints = items.map((item) => parseEndpoint(item, service));
  const faulty = items.filter((_, index) => endpoints[index] === undefined);
  return {
    slices: toSlices(
      service,
      endpoints.filter((endpoint) => endpoint !== undefined),
    ),
    problems: (items.length === 0 ? [text] : faulty).map((item) => problemOf(item, service)),
  };
}

/** Names are not resolved: an answer that changes would have to change the slice. `localhost` is known. */
function parseEndpoint(item: string, { spec }: Service): Endpoint | undefined {
  const [, portName, bracketed, plain = '', port] =
    /^(?:([a-z0-9-]+)=)?(?:\[([^\]]+)\]|([^[\]:]+)):(\d{1,5})$/.exec(item) ?? [];
  const address = bracketed ?? (plain === 'localhost' ? '127.0.0.1' : plain);
  const ip = parseIp(address);
  const number = Number(port);
  if (!ip || !(number >= 1 && number <= 65535)) return undefined;
  if (portName !== undefined && !spec.ports.some(({ name }) => name === portName)) return undefined;
  return { ...(portName !== undefined && { portName }), version: ip.version, address, port: number };
}

function problemOf(item: string, { spec }: Service): FieldProblem {
  const names = spec.ports.flatMap(({ name }) => (name === '' ? [] : [name]));
  const named =
    names.length > 0 ? ` (or "name=IP:port" with a port of the Service: ${names.join(', ')})` : '';
  return {
    path: fieldPath('metadata.annotations', ENDPOINT_ANNOTATION),
    message: `must be "IP:port" or "localhost:port", several separated by commas${named}, not ${JSON.stringify(item)}`,
  };
}

/** All addresses of a slice have its ports and its family. */
function toSlices(service: Service, endpoints: readonly Endpoint[]): readonly ReadObject[] {
  const groups = groupBy(
    endpoints,
    ({ portName = '', version, port }) => `${portName}/${String(version)}/${String(port)}`,
  );
  return [...groups.values()].flatMap((group, index) => toSlice(service, group, index));
}

function toSlice({ metadata, spec }: Service, group: readonly Endpoint[], index: number): ReadObject[] {
  const [first] = group;
  if (!first) return [];
  const ports = spec.ports.filter(({ name }) => first.portName === undefined || name === first.portName);
  const parsed = parseObject('EndpointSlice', {
    metadata: {
      name: `${metadata.name}-annotation-${String(index)}`,
      namespace: metadata.namespace,
      labels: { 'kubernetes.io/service-name': metadata.name },
    },
    addressType: first.version === 4 ? 'IPv4' : 'IPv6',
    endpoints: group.map(({ address }) => ({ addresses: [address] })),
    ports: ports.map(({ name, protocol, appProtocol }) => ({
      name,
      protocol,
      appProtocol,
      port: first.port,
    })),
  });
  if ('problems' in parsed) return [];
  const { namespace, name } = parsed.object.metadata;
  return [{ key: objectKey('EndpointSlice', namespace, name), object: parsed.object, lineOf: () => 1 }];
}
