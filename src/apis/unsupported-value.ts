/**
 * A value of an enumeration that this version does not know, from an API server whose CRDs are newer. The object is
 * read all the same: only the part that holds the value cannot be honoured, and the graph says so.
 */
export type UnsupportedValue = `${typeof MARK}${string}`;

const MARK = 'unsupported:';

export function unsupportedValue(value: string | number): UnsupportedValue {
  return `${MARK}${String(value)}`;
}

export function isUnsupported(value: unknown): value is UnsupportedValue {
  return typeof value === 'string' && value.startsWith(MARK);
}

/** The value as it was written. */
export function writtenValue(value: UnsupportedValue): string {
  return value.slice(MARK.length);
}
