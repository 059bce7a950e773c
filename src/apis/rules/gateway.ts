import { parseIp } from '../../util/ip-range.js';
import type { Gateway } from '../gateway/index.js';
import { fieldPath, itemPath, type FieldProblem } from '../validation/field-problem.js';
import { problemWhen } from './rule.js';

const HOSTNAME = /^(\*\.)?[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const QUALIFIED_NAME =
  /^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*\/)?([A-Za-z0-9][-A-Za-z0-9_.]{0,61})?[A-Za-z0-9]$/;

export function* gatewayAddresses({ spec: { addresses = [] } }: Gateway): Generator<FieldProblem> {
  const seen = new Set<string>();
  for (const [index, { type, value }] of addresses.entries()) {
    if (value === undefined) continue;
    const path = `${itemPath('spec.addresses', index)}.value`;
    yield* problemWhen(
      type === 'IPAddress' && parseIp(value) === undefined,
      path,
      `must be an IP address for type IPAddress, not "${value}"`,
    );
    yield* problemWhen(
      type === 'Hostname' && value !== '' && !HOSTNAME.test(value),
      path,
      `must be a host name for type Hostname, not "${value}"`,
    );
    const identity = `${type} ${value}`;
    yield* problemWhen(
      seen.has(identity) && ['IPAddress', 'Hostname'].includes(type),
      path,
      `must be unique: "${value}" is listed before`,
    );
    seen.add(identity);
  }
}

export function* infrastructureKeys({ spec: { infrastructure } }: Gateway): Generator<FieldProblem> {
  for (const field of ['labels', 'annotations'] as const)
    for (const key of Object.keys(infrastructure?.[field] ?? {}))
      yield* problemWhen(
        !QUALIFIED_NAME.test(key) || (key.split('/')[0] ?? '').length > 252,
        fieldPath(`spec.infrastructure.${field}`, key),
        'must have a key of the form "name" or "example.com/name"',
      );
}
