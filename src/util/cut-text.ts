/** A text of at most so many bytes of UTF-8; one that was cut ends in `…`. No character is split. */
export function cutText(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= maxBytes) return text;
  let end = maxBytes - 3;
  // 10xxxxxx continues a character (RFC 3629 §3).
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return `${bytes.toString('utf8', 0, end)}…`;
}
