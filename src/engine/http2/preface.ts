/** RFC 9113 §3.4: what a client sends first. */
export const CLIENT_PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'latin1');

/** The bytes cannot begin an HTTP/2 connection. */
export const NOT_HTTP2 = 0;
export const HTTP2 = 1;
/** So far they could: read more before deciding. */
export const UNDECIDED = 2;

/**
 * Whether a cleartext connection begins as HTTP/2 with prior knowledge. The request line and the blank line are
 * enough: HTTP/1.1 has no method `PRI`, and a preface broken later must get an HTTP/2 error.
 */
export function isHttp2Preface(
  buffer: Buffer,
  length: number,
): typeof NOT_HTTP2 | typeof HTTP2 | typeof UNDECIDED {
  const needed = 18;
  const compared = Math.min(length, needed);
  for (let i = 0; i < compared; i++) if (buffer[i] !== CLIENT_PREFACE[i]) return NOT_HTTP2;
  return compared === needed ? HTTP2 : UNDECIDED;
}

/**
 * Whether the first line of a connection is of no version of HTTP at all: three words of which the second is no request
 * target and the third no version. RFC 9113 §3.4 wants a connection closed that begins like that: an answer in HTTP/1.1
 * would be as foreign to its client.
 */
export function isForeignPreface(buffer: Buffer, start: number, end: number): boolean {
  const lineEnd = buffer.indexOf(0x0a, start);
  if (lineEnd < 0 || lineEnd >= end) return false;
  const [, target = '', version = ''] = buffer.toString('latin1', start, lineEnd).split(' ');
  return /^[A-Za-z]+$/.test(target) && version !== '' && !version.startsWith('HTTP/');
}
