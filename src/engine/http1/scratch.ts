/**
 * A place where heads are put together, one after the other. When the wire keeps one until its write is done, the next
 * place is behind it: a slow peer costs the bytes of its heads and not each time a whole scratch.
 */
export function newScratch(length: number): Buffer {
  return Buffer.allocUnsafeSlow(2 * length).subarray(0, length);
}

/** As long as `scratch`, whose first `end` bytes are left to the wire. */
export function nextScratch(scratch: Buffer, end: number): Buffer {
  const { buffer, byteOffset, length } = scratch;
  const offset = byteOffset + end;
  return offset + length <= buffer.byteLength ? Buffer.from(buffer, offset, length) : newScratch(length);
}
