import { parseIp } from '../../util/ip-range.js';
import {
  SERVICE_NAME_LABEL,
  type ConfigMap,
  type EndpointSlice,
  type Secret,
  type Service,
} from '../core/index.js';
import type { KubernetesObject } from '../meta.js';
import { fieldPath, itemPath, type FieldProblem } from '../validation/field-problem.js';
import { problemWhen } from './rule.js';

const DNS_LABEL = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** Names of Services and Namespaces become labels of DNS names. */
export function* nameIsLabel({ metadata: { name } }: KubernetesObject): Generator<FieldProblem> {
  yield* problemWhen(
    name.length > 63 || !DNS_LABEL.test(name),
    'metadata.name',
    'must be a DNS label: at most 63 of a-z, 0-9 and "-"',
  );
}

export function* servicePorts({ spec }: Service): Generator<FieldProblem> {
  yield* problemWhen(
    spec.ports.length === 0 && spec.type !== 'ExternalName' && spec.clusterIP !== 'None',
    'spec.ports',
    'must have at least one port',
  );
  const names = new Set<string>();
  for (const [index, { name }] of spec.ports.entries()) {
    const path = `${itemPath('spec.ports', index)}.name`;
    yield* problemWhen(
      name === '' && spec.ports.length > 1,
      path,
      'is required when there are several ports',
    );
    yield* problemWhen(
      name !== '' && names.has(name),
      path,
      `must be unique: "${name}" names an earlier port`,
    );
    names.add(name);
  }
}

export function* endpointAddresses(slice: EndpointSlice): Generator<FieldProblem> {
  if (slice.addressType === 'FQDN') return;
  const version = slice.addressType === 'IPv4' ? 4 : 6;
  for (const [index, { addresses }] of slice.endpoints.entries())
    for (const [at, address] of addresses.entries())
      yield* problemWhen(
        parseIp(address)?.version !== version,
        itemPath(`${itemPath('endpoints', index)}.addresses`, at),
        `must be an ${slice.addressType} address, not "${address}"`,
      );
}

/** Without its label a slice belongs to no Service and would silently do nothing. */
export function* sliceOfService({ metadata }: EndpointSlice): Generator<FieldProblem> {
  yield* problemWhen(
    metadata.labels?.[SERVICE_NAME_LABEL] === undefined,
    fieldPath('metadata.labels', SERVICE_NAME_LABEL),
    'is required: the name of the Service that the endpoints belong to',
  );
}

export function* secretData({ type, data = {} }: Secret): Generator<FieldProblem> {
  yield* base64Values(data, 'data');
  if (type !== 'kubernetes.io/tls') return;
  for (const key of ['tls.crt', 'tls.key'])
    yield* problemWhen(
      data[key] === undefined,
      fieldPath('data', key),
      'is required for type kubernetes.io/tls',
    );
}

export function* configMapData({ data = {}, binaryData = {} }: ConfigMap): Generator<FieldProblem> {
  yield* base64Values(binaryData, 'binaryData');
  for (const key of Object.keys(binaryData))
    yield* problemWhen(data[key] !== undefined, fieldPath('binaryData', key), 'must not be in data as well');
}

/** The values may be secret: they are not shown. */
function* base64Values(data: Readonly<Record<string, string>>, path: string): Generator<FieldProblem> {
  for (const [key, value] of Object.entries(data))
    yield* problemWhen(
      !BASE64.test(value.replace(/\s/g, '')),
      fieldPath(path, key),
      path === 'data' ? 'must be base64 (or put the text into stringData)' : 'must be base64',
    );
}
