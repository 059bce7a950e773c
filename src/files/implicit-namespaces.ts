import { parseObject } from '../apis/validate.js';
import { objectKey, type ReadObject } from './read-document.js';
import type { TrackedObject } from './tracked-object.js';

/**
 * The namespaces that objects live in, by name in its order; those of `before` are the same objects. The caller prefers
 * those that a file describes.
 */
export function implicitNamespaces(
  objects: Iterable<TrackedObject>,
  before: ReadonlyMap<string, ReadObject>,
): ReadonlyMap<string, ReadObject> {
  const names = new Set<string>();
  for (const { namespace } of objects) names.add(namespace);
  names.delete('');
  const namespaces = new Map<string, ReadObject>();
  for (const name of [...names].sort()) {
    const read = before.get(name) ?? readNamespace(name);
    if (read) namespaces.set(name, read);
  }
  return namespaces;
}

/** Undefined when no namespace can have the name. */
function readNamespace(name: string): ReadObject | undefined {
  const parsed = parseObject('Namespace', { metadata: { name } });
  if ('problems' in parsed) return undefined;
  return { key: objectKey('Namespace', undefined, name), object: parsed.object, lineOf: () => 1 };
}
