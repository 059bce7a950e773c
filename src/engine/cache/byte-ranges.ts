/** First and last byte, both included. */
export interface ByteRange {
  readonly first: number;
  readonly last: number;
}

/** More ranges than that in one request are taken for an attack (CVE-2011-3192) and the field is ignored. */
const MOST_RANGES = 16;

/**
 * The ranges of a Range field that a body of `length` bytes can satisfy, in the order asked for: `ignored` when the
 * field is malformed or in another unit, an empty list when none is satisfiable (RFC 9110 §14.1.2, §14.2).
 */
export function parseRanges(field: string, length: number): readonly ByteRange[] | 'ignored' {
  const spec = /^bytes=(.*)$/i.exec(field)?.[1];
  if (spec === undefined) return 'ignored';
  const parts = spec.split(',').map((part) => part.trim());
  if (parts.length > MOST_RANGES) return 'ignored';
  const ranges: ByteRange[] = [];
  for (const part of parts) {
    const range = parseRange(part, length);
    if (range === 'ignored') return 'ignored';
    if (range) ranges.push(range);
  }
  return overlaps(ranges) ? 'ignored' : ranges;
}

/** Undefined: valid, but nothing of the body is in it. */
function parseRange(part: string, length: number): ByteRange | undefined | 'ignored' {
  const [, first, last] = /^(\d*)-(\d*)$/.exec(part) ?? [];
  if (first === undefined || last === undefined || (first === '' && last === '')) return 'ignored';
  if (first === '') return suffixRange(Number(last), length);
  if (last !== '' && Number(last) < Number(first)) return 'ignored';
  if (Number(first) >= length) return undefined;
  return { first: Number(first), last: last === '' ? length - 1 : Math.min(Number(last), length - 1) };
}

function suffixRange(suffix: number, length: number): ByteRange | undefined {
  return suffix === 0 || length === 0 ? undefined : { first: Math.max(0, length - suffix), last: length - 1 };
}

/** Overlapping ranges make an answer larger than the body. */
function overlaps(ranges: readonly ByteRange[]): boolean {
  const sorted = ranges.toSorted((a, b) => a.first - b.first);
  return sorted.some((range, index) => range.first <= (sorted[index - 1]?.last ?? -1));
}
