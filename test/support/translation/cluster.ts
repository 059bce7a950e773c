import { clusterOf, type ClusterSnapshot } from '../../../src/apis/cluster-snapshot.js';
import { KINDS, type Kind } from '../../../src/apis/kinds.js';
import { keyOf } from '../../../src/apis/meta.js';
import { isOfKind, type AnyObject, type ObjectsByKind } from '../../../src/apis/objects.js';
import { parseObject, type Strictness } from '../../../src/apis/validate.js';

/** The cluster that holds these objects, in this order. */
export function clusterFrom(objects: readonly AnyObject[]): ClusterSnapshot {
  return clusterOf(<K extends Kind>(kind: K): ReadonlyMap<string, ObjectsByKind[K]> => {
    const ofKind = new Map<string, ObjectsByKind[K]>();
    for (const object of objects) if (isOfKind(kind, object)) ofKind.set(keyOf(object), object);
    return ofKind;
  });
}

/** Reads what YAML said as the API server would; fails with every problem. `stringData` of Secrets is encoded. */
export function objectFrom(
  raw: Readonly<Record<string, unknown>>,
  strictness: Strictness = 'strict',
): AnyObject {
  const kind = KINDS.find((one) => one.kind === raw['kind'])?.kind;
  if (kind === undefined) throw new Error(`unknown kind ${String(raw['kind'])}`);
  const result = parseObject(kind, encodeStringData(raw), strictness);
  if ('object' in result) return result.object;
  const name = JSON.stringify(raw['metadata']);
  throw new Error(
    `${kind} ${name}: ${result.problems.map((one) => `${one.path} ${one.message}`).join('; ')}`,
  );
}

function encodeStringData(raw: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const { stringData, ...rest } = raw;
  if (typeof stringData !== 'object' || stringData === null) return raw;
  const data = Object.fromEntries(
    Object.entries(stringData).map(([name, value]) => [name, Buffer.from(String(value)).toString('base64')]),
  );
  return { ...rest, data };
}
