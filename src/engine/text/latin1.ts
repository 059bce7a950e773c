declare global {
  interface Buffer {
    /** Node's latin1 reader without the dispatch on the encoding's name, which costs more than a short string does. */
    latin1Slice?(start: number, end: number): string;
    latin1Write?(text: string, offset: number): number;
  }
}

/** The bytes `[start, end)` as text of one character per byte. Falls back to the documented method. */
export function latin1Slice(bytes: Buffer, start: number, end: number): string {
  return bytes.latin1Slice?.(start, end) ?? bytes.toString('latin1', start, end);
}

/** Writes a text of one byte per character. Short ones are written here: a call into Node costs more. */
export function latin1Write(bytes: Buffer, text: string, offset: number): number {
  const length = text.length;
  if (length > 24) return offset + (bytes.latin1Write?.(text, offset) ?? bytes.write(text, offset, 'latin1'));
  for (let i = 0; i < length; i++) bytes[offset + i] = text.charCodeAt(i);
  return offset + length;
}
