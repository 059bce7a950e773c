import { Type } from '@sinclair/typebox';

import type { SchemaNode } from './schema-node.js';

const BOUNDS = [
  'minItems',
  'maxItems',
  'minLength',
  'maxLength',
  'minimum',
  'maximum',
  'maxProperties',
  'pattern',
] as const;

/**
 * The schema without patterns and bounds. Objects from the API server have passed its own, which may be those of
 * another version; here only the types must be what our types say.
 */
export function relax(node: SchemaNode): SchemaNode {
  const relaxed: SchemaNode = {
    ...node,
    ...(node.properties && { properties: mapValues(node.properties, relax) }),
    ...(node.patternProperties && { patternProperties: mapValues(node.patternProperties, relax) }),
    ...(node.items && { items: relax(node.items) }),
    // Constants that are not known have become a text that says so.
    ...(node.open === true && node.anyOf && { anyOf: [...node.anyOf, Type.String()] }),
  };
  for (const keyword of BOUNDS) Reflect.deleteProperty(relaxed, keyword);
  return relaxed;
}

function mapValues<V, R>(record: Readonly<Record<string, V>>, change: (value: V) => R): Record<string, R> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value)]));
}
