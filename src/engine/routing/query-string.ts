/**
 * The value of a parameter of the query that begins at `from`: the first one of that name, decoded once (`%xx`, and `+` as a space), `''`
 * when it has none, `undefined` when the name does not occur. Only `&` separates parameters (WHATWG URL §5.1).
 */
export function queryParam(query: string, name: string, from: number): string | undefined {
  let start = from;
  while (start < query.length) {
    const next = query.indexOf('&', start);
    const end = next < 0 ? query.length : next;
    const equals = query.indexOf('=', start);
    const nameEnd = equals < 0 || equals > end ? end : equals;
    if (isNamed(query, start, nameEnd, name)) return decodeComponent(query.slice(nameEnd + 1, end));
    start = end + 1;
  }
  return undefined;
}

function isNamed(query: string, start: number, end: number, name: string): boolean {
  // Decoding never makes a name longer.
  return end - start >= name.length && decodeComponent(query.slice(start, end)) === name;
}

const NEEDS_DECODING = /[%+]/;

/** Escapes that are malformed, or no UTF-8, stay as they are. */
function decodeComponent(raw: string): string {
  if (!NEEDS_DECODING.test(raw)) return raw;
  const spaced = raw.replaceAll('+', ' ');
  try {
    return decodeURIComponent(spaced);
  } catch {
    // Not UTF-8 or not an escape: compared as it was sent.
    return spaced;
  }
}
