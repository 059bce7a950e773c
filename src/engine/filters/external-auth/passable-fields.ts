const FRAMING: ReadonlySet<string> = new Set([
  'host',
  'content-length',
  'transfer-encoding',
  'connection',
  'keep-alive',
  'proxy-connection',
  'upgrade',
  'te',
  'trailer',
]);

/** Framing is the codecs', and `host` is the authority, which is always passed. */
export function isPassable(name: string): boolean {
  return !FRAMING.has(name);
}

/** Names as they are compared, without those that nobody may pass. */
export function passableNames(names: readonly string[]): readonly string[] {
  return [...new Set(names.map((name) => name.toLowerCase()))].filter(isPassable);
}
