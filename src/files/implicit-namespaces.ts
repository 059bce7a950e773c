import { parseObject } from '../apis/validate.js';
import { objectKey, type ReadObject } from './read-document.js';
import type { TrackedObject } from './tracked-object.js';

/** The namespaces that objects live in; the caller prefers those that a file describes. */
export function implicitNamespaces(objects: Iterable<TrackedObject>): readonly ReadObject[] {
  const names = new Set<string>();
  for (const { namespace } of objects) names.add(namespace);
  names.delete('');
  return [...names].sort().flatMap((name) => {
    const parsed = parseObject('Namespace', { metadata: { name } });
    if ('problems' in parsed) return [];
    return [{ key: objectKey('Namespace', undefined, name), object: parsed.object, lineOf: () => 1 }];
  });
}
