import type { Fields } from '../exchange/fields.js';
import type { Selector, StoredResponse } from './stored-response.js';

/** What a response's Vary makes of the request that it answers (RFC 9111 §4.1). */
export function selectorsOf(vary: readonly string[], request: Fields): readonly Selector[] {
  if (vary.length === 0) return [];
  const names = new Set(
    vary
      .join(',')
      .toLowerCase()
      .split(',')
      .map((name) => name.trim()),
  );
  names.delete('');
  return [...names].sort().map((name) => {
    const [line, ...others] = request.getAll(name);
    const value = selectingValue(request, name);
    return line !== undefined && others.length === 0 ? { name, value, line } : { name, value };
  });
}

export function isSelected({ selectors }: StoredResponse, request: Fields): boolean {
  for (const { name, value, line } of selectors) {
    if (line !== undefined && request.isExactly(name, line)) continue;
    if (selectingValue(request, name) !== value) return false;
  }
  return true;
}

/** Whether two responses stand for the same variant. */
export function isSameVariant(a: readonly Selector[], b: readonly Selector[]): boolean {
  return (
    a.length === b.length &&
    a.every(({ name, value }, index) => name === b[index]?.name && value === b[index].value)
  );
}

/** Lines combined and white space between list members dropped: differences that never mean anything. */
function selectingValue(request: Fields, name: string): string | undefined {
  const first = request.get(name);
  if (first === undefined) return undefined;
  return request
    .getAll(name)
    .join(',')
    .replace(/\s*,\s*/g, ',');
}
