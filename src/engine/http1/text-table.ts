/** A power of two. */
const SLOTS = 1024;
/** Longer texts are rarely asked for again, and there may be much of them. */
const LONGEST = 256;

/**
 * Texts of bytes, of which the last ones are kept: a text that is there already is not made again, and whoever looks it up
 * in a map finds it hashed and compares one pointer. 256 KB at most.
 */
export class TextTable {
  readonly #texts: string[] = new Array<string>(SLOTS).fill('');

  /** The text of `buffer[start, end)` in Latin-1. */
  of(buffer: Buffer, start: number, end: number): string {
    const length = end - start;
    if (length > LONGEST) return buffer.toString('latin1', start, end);
    let hash = length;
    for (let i = start; i < end; i++) hash = (Math.imul(hash, 31) + (buffer[i] ?? 0)) | 0;
    const slot = (hash ^ (hash >>> 15)) & (SLOTS - 1);
    const kept = this.#texts[slot] ?? '';
    if (isText(kept, buffer, start, length)) return kept;
    const text = buffer.toString('latin1', start, end);
    this.#texts[slot] = text;
    return text;
  }
}

function isText(text: string, buffer: Buffer, start: number, length: number): boolean {
  if (text.length !== length) return false;
  for (let i = 0; i < length; i++) if (text.charCodeAt(i) !== buffer[start + i]) return false;
  return true;
}
