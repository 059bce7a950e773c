/** RFC 9113 §3.4: what a client sends first. */
export const CLIENT_PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'latin1');

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
