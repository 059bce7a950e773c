/**
 * A configured text as the value of a field: fields are latin-1, so other characters are their UTF-8 bytes. (Taken
 * as it is, a character above U+00FF would lose its high byte on the wire, and U+010A would become a line feed.)
 */
export function toFieldValue(text: string): string {
  return isAscii(text) ? text : Buffer.from(text, 'utf8').toString('latin1');
}

/** A configured path as it may stand in a request target: what no path can hold is escaped, `?` and `#` included. */
export function toPathLiteral(text: string): string {
  const path = text.replace(NOT_IN_A_PATH, (part) =>
    part === '?' ? '%3F' : part === '#' ? '%23' : encodeURIComponent(part.toWellFormed()),
  );
  return path.startsWith('/') || path === '' ? path : `/${path}`;
}

const NOT_IN_A_PATH = /[?#]|[^\x21-\x7e]+/g;

function isAscii(text: string): boolean {
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) > 0x7f) return false;
  return true;
}
