import type { ByteRange } from './byte-ranges.js';

/** Several ranges of a body as `multipart/byteranges` (RFC 9110 §14.6), copied together. */
export function multipartRanges(
  body: Buffer,
  ranges: readonly ByteRange[],
  { boundary, contentType }: { readonly boundary: string; readonly contentType: string | undefined },
): Buffer {
  const type = contentType === undefined ? '' : `Content-Type: ${contentType}\r\n`;
  const parts = ranges.flatMap(({ first, last }) => {
    const head = `\r\n--${boundary}\r\n${type}Content-Range: bytes ${first}-${last}/${body.length}\r\n\r\n`;
    return [Buffer.from(head, 'latin1'), body.subarray(first, last + 1)];
  });
  return Buffer.concat([...parts, Buffer.from(`\r\n--${boundary}--\r\n`, 'latin1')]);
}
