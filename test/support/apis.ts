import { parse } from 'yaml';

import type { Kind } from '../../src/apis/kinds.js';
import type { ObjectsByKind } from '../../src/apis/objects.js';
import { parseObject } from '../../src/apis/validate.js';

/** What is wrong with an object of a file, as `path message`; empty when all is well. */
export function problemsOf(kind: Kind, yaml: string): readonly string[] {
  const result = parseObject(kind, withMetadata(kind, yaml), 'strict');
  return 'problems' in result ? result.problems.map(({ path, message }) => `${path} ${message}`) : [];
}

/** An object of a file; throws when something is wrong with it. */
export function objectOf<K extends Kind>(kind: K, yaml: string): ObjectsByKind[K] {
  const result = parseObject(kind, withMetadata(kind, yaml), 'strict');
  if ('object' in result) return result.object;
  throw new Error(result.problems.map(({ path, message }) => `${path} ${message}`).join('; '));
}

/** Metadata may be left out. */
function withMetadata(kind: Kind, yaml: string): unknown {
  const raw: unknown = parse(yaml);
  const scope =
    kind === 'GatewayClass' || kind === 'AddressPool' || kind === 'Namespace' ? {} : { namespace: 'ns' };
  return typeof raw === 'object' && raw !== null ? { metadata: { name: 'x', ...scope }, ...raw } : raw;
}
