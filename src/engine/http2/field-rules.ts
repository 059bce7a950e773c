/** Rules that request, response and trailer sections share (RFC 9113 §8.2). */

const CONNECTION_SPECIFIC: ReadonlySet<string> = new Set([
  'connection',
  'proxy-connection',
  'keep-alive',
  'transfer-encoding',
  'upgrade',
]);

/** What RFC 9110 §6.5.1 says does not belong in trailers, since it would change what was processed already. */
const NOT_IN_TRAILERS: ReadonlySet<string> = new Set([
  'content-length',
  'host',
  'te',
  'trailer',
  'content-encoding',
  'content-type',
  'content-range',
  'authorization',
  'set-cookie',
  'cache-control',
  'expect',
  'max-forwards',
  'range',
]);

/** RFC 9113 §8.2.2: a message with such a field is malformed. */
export function isConnectionSpecific(name: string): boolean {
  return CONNECTION_SPECIFIC.has(name);
}

/** @returns the length in bytes, or -1 when the value is not digits only or larger than any body. */
export function parseContentLength(value: string): number {
  if (value.length === 0 || value.length > 15) return -1;
  let length = 0;
  for (let i = 0; i < value.length; i++) {
    const digit = value.charCodeAt(i) - 0x30;
    if (digit < 0 || digit > 9) return -1;
    length = length * 10 + digit;
  }
  return length;
}

/**
 * The fields of a trailer section that may go on.
 * @returns undefined when the section is malformed: pseudo-header fields are not allowed (RFC 9113 §8.1).
 */
export function readTrailers(fields: readonly string[]): string[] | undefined {
  const kept: string[] = [];
  for (let i = 0; i + 1 < fields.length; i += 2) {
    const name = fields[i] ?? '';
    if (name.charCodeAt(0) === 0x3a || isConnectionSpecific(name)) return undefined;
    if (!NOT_IN_TRAILERS.has(name)) kept.push(name, fields[i + 1] ?? '');
  }
  return kept;
}
