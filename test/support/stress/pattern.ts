/** Bytes that only one client can expect: a foreign or a stale one shows wherever it lands. */
function byteAt(seed: number, offset: number): number {
  return (offset * 31 + (offset >> 8) * 7 + seed * 13) & 0xff;
}

export function patternOf(seed: number, from: number, to: number): Buffer {
  const bytes = Buffer.allocUnsafe(to - from);
  for (let index = 0; index < bytes.length; index++) bytes[index] = byteAt(seed, from + index);
  return bytes;
}

/** Offset in the body of the first byte that is not the pattern's, or -1. */
export function firstFault(bytes: Buffer, seed: number, from: number): number {
  for (let index = 0; index < bytes.length; index++) {
    if (bytes[index] !== byteAt(seed, from + index)) return from + index;
  }
  return -1;
}
