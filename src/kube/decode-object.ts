import type { Kind } from '../apis/kinds.js';
import type { ObjectsByKind } from '../apis/objects.js';
import { parseObject } from '../apis/validate.js';
import type { Decoded } from './object-store.js';

/** Reads what the API server sent: it has validated the object, so only what is read is checked again. */
export function decodeObject<K extends Kind>(kind: K, raw: unknown): Decoded<ObjectsByKind[K]> {
  const parsed = parseObject(kind, raw);
  if ('object' in parsed) return { object: parsed.object };
  return { problem: parsed.problems.map(({ path, message }) => `${path} ${message}`.trim()).join('; ') };
}
