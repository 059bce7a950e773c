import { isJsonObject } from './json.js';

/** Whether two values of parsed JSON say the same; the order of keys does not count, that of lists does. */
export function sameValue(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (Array.isArray(a)) {
    return Array.isArray(b) && a.length === b.length && a.every((item, index) => sameValue(item, b[index]));
  }
  if (!isJsonObject(a) || !isJsonObject(b)) return false;
  // SecretBytes and their like have no readable fields, but say themselves whether they are equal.
  if (hasEquals(a)) return a.constructor === b.constructor && a.equals(b);

  const keys = Object.keys(a).filter((key) => a[key] !== undefined);
  const others = Object.keys(b).filter((key) => b[key] !== undefined);
  return (
    keys.length === others.length && keys.every((key) => Object.hasOwn(b, key) && sameValue(a[key], b[key]))
  );
}

/** Whether two versions of an object are equal in all that is read, which the version itself is not part of. */
export function sameObject<T extends { readonly metadata: object }>(a: T, b: T): boolean {
  return sameValue(
    { ...a, metadata: { ...a.metadata, resourceVersion: undefined } },
    { ...b, metadata: { ...b.metadata, resourceVersion: undefined } },
  );
}

function hasEquals(value: object): value is { equals(other: unknown): boolean } {
  return 'equals' in value && typeof value.equals === 'function';
}
