/**
 * The next value of something, made of parts of the previous one wherever they are equal: the previous value itself
 * when nothing changed. For plain data (what JSON can say); the order of keys does not count.
 */
export function shareStructure<T>(previous: unknown, next: T): T;
export function shareStructure(previous: unknown, next: unknown): unknown {
  if (Object.is(previous, next)) return previous;
  if (Array.isArray(next)) return Array.isArray(previous) ? shareList(previous, next) : next;
  if (isPlainObject(next) && isPlainObject(previous)) return shareObject(previous, next);
  return next;
}

function shareList(previous: readonly unknown[], next: readonly unknown[]): readonly unknown[] {
  let same = previous.length === next.length;
  const shared = next.map((value, index) => {
    const part = shareStructure(previous[index], value);
    if (part !== previous[index]) same = false;
    return part;
  });
  return same ? previous : shared;
}

function shareObject(
  previous: Readonly<Record<string, unknown>>,
  next: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const keys = Object.keys(next);
  let same = keys.length === Object.keys(previous).length;
  const entries = keys.map((key): [string, unknown] => {
    const before = Object.hasOwn(previous, key) ? previous[key] : undefined;
    const part = shareStructure(before, next[key]);
    if (part !== before) same = false;
    return [key, part];
  });
  return same ? previous : Object.fromEntries(entries);
}

function isPlainObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
