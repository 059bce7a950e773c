import { parseIp } from '../../util/ip-range.js';
import type { TlsRoute } from '../gateway/index.js';
import { itemPath, type FieldProblem } from '../validation/field-problem.js';
import { problemWhen } from './rule.js';

/** RFC 6066 §3: a server name is no IP address. */
export function* hostnamesAreNames({ spec }: TlsRoute): Generator<FieldProblem> {
  for (const [index, name] of spec.hostnames.entries())
    yield* problemWhen(
      parseIp(name) !== undefined,
      itemPath('spec.hostnames', index),
      `must be a host name, not the IP address ${name}`,
    );
}
