import { HEX, UNRESERVED } from './characters.js';

/**
 * The one form of a path that is matched and forwarded, or a sentence saying why it is refused.
 *
 * - An escaped unreserved character (RFC 3986 section 6.2.2.2), `%2e` above all, is decoded: both forms mean the same,
 *   and a backend would decode it.
 * - Dot segments are resolved (section 5.2.4). `%2f` stays data, `//` stays.
 * - `%00`, a broken escape, and an escaped backslash that makes a dot segment where it is taken for a slash are
 *   refused: no form of them is safe.
 *
 * `target` is in origin form; its query is not touched.
 */
export function normalisePath(target: string): { readonly path: string } | { readonly problem: string } {
  const queryAt = target.indexOf('?');
  const raw = queryAt < 0 ? target : target.slice(0, queryAt);
  const query = queryAt < 0 ? '' : target.slice(queryAt);
  let path = raw;
  if (raw.includes('%')) {
    const decoded = decodeUnreserved(raw);
    if (decoded === undefined) return { problem: 'the path has a broken or forbidden escape' };
    path = decoded;
    if (
      /%5c/i.test(path) &&
      path.split(/\/|%5c|%2f/i).some((segment) => segment === '.' || segment === '..')
    ) {
      return { problem: 'the path has a dot segment behind an escaped backslash' };
    }
  }
  return { path: (path.includes('/.') ? resolveDots(path) : path) + query };
}

/** Undefined: an escape is not two hexadecimal digits, or stands for NUL. */
function decodeUnreserved(path: string): string | undefined {
  let out = '';
  let from = 0;
  for (let at = path.indexOf('%'); at >= 0; at = path.indexOf('%', at + 3)) {
    const high = HEX[path.charCodeAt(at + 1)] ?? -1;
    const low = HEX[path.charCodeAt(at + 2)] ?? -1;
    if (high < 0 || low < 0) return undefined;
    const code = high * 16 + low;
    if (code === 0) return undefined;
    if (UNRESERVED[code] !== 1) continue;
    out += path.slice(from, at) + String.fromCharCode(code);
    from = at + 3;
  }
  return out + path.slice(from);
}

/** RFC 3986 section 5.2.4 for a path that begins with `/`. */
function resolveDots(path: string): string {
  const segments = path.split('/');
  const kept: string[] = [];
  const last = segments.length - 1;
  for (let i = 1; i <= last; i++) {
    const segment = segments[i] ?? '';
    if (segment === '..') kept.pop();
    else if (segment !== '.') kept.push(segment);
    // A dot segment at the end leaves the slash before it.
    if (i === last && (segment === '..' || segment === '.')) kept.push('');
  }
  return `/${kept.join('/')}`;
}
