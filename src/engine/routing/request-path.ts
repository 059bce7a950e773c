/**
 * The one form of a request's path that is matched and forwarded (spec of the product: escapes of unreserved
 * characters are decoded, dot segments are resolved, `%2f` stays data, `//` stays).
 *
 * A path whose meaning would depend on who decodes it is refused, so that nothing which was matched as `/x` can
 * be understood as `/admin` behind us: malformed escapes, an encoded NUL or control character, a fragment, a
 * backslash, and dot segments that only appear once `%2f`, `%5c` or path parameters (`..;a=b`) are interpreted.
 */
export function normalizePath(path: string): string | undefined {
  if (!NEEDS_WORK.test(path)) return path;
  if (REFUSED.test(path)) return undefined;
  const decoded = path.includes('%') ? decodeUnreserved(path) : path;
  if (decoded === undefined) return undefined;
  const segments = decoded.split('/');
  if (segments.some(isAmbiguous)) return undefined;
  return segments.some(isDotSegment) ? resolveDotSegments(segments) : decoded;
}

/** Nothing but these can make a path different from its normal form. */
const NEEDS_WORK = /[%\\#\0]|\/\./;

/** A raw fragment or backslash; NUL and other control characters, raw or encoded. */
const REFUSED = /[\\#\x00-\x1f\x7f]|%[01][\da-f]|%7f/i;

const MALFORMED_ESCAPE = /%(?![\da-f]{2})/i;
const ESCAPE = /%[\da-f]{2}/gi;
const UNRESERVED = /[\w.~-]/;

/**
 * RFC 3986 §6.2.2.2. `undefined` for a `%` that starts no escape: decoding what follows it could make one
 * (`%%32e` → `%2e`).
 */
function decodeUnreserved(path: string): string | undefined {
  if (MALFORMED_ESCAPE.test(path)) return undefined;
  return path.replace(ESCAPE, (escape) => {
    const character = String.fromCharCode(Number.parseInt(escape.slice(1), 16));
    return UNRESERVED.test(character) ? character : escape;
  });
}

function isDotSegment(segment: string): boolean {
  return segment === '.' || segment === '..';
}

const SEPARATOR_ESCAPE = /%2f|%5c/i;

/** Whether another reader could see a dot segment in it that is not one here. */
function isAmbiguous(segment: string): boolean {
  if (!segment.includes('.') || isDotSegment(segment)) return false;
  return segment.split(SEPARATOR_ESCAPE).some((part) => isDotSegment(part.split(/;|%3b/i, 1)[0] ?? ''));
}

/** RFC 3986 §5.2.4; the first segment is the empty one before the first slash. */
function resolveDotSegments(segments: readonly string[]): string {
  const kept: string[] = [];
  for (const segment of segments.slice(1)) {
    if (segment === '..') kept.pop();
    else if (segment !== '.') kept.push(segment);
  }
  if (isDotSegment(segments.at(-1) ?? '')) kept.push('');
  return `/${kept.join('/')}`;
}
