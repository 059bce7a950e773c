const MAXIMUM = 255;

/** Lists are few and never change: each is encoded once. */
const encoded = new WeakMap<readonly string[], Buffer>();

/** ProtocolNameList without its length prefix: RFC 7301 section 3.1. Names that do not fit are left out. */
export function toAlpnList(protocols: readonly string[]): Buffer {
  const known = encoded.get(protocols);
  if (known !== undefined) return known;

  const names = protocols
    .map((protocol) => Buffer.from(protocol, 'latin1'))
    .filter(({ length }) => length > 0 && length <= MAXIMUM);
  const list = Buffer.concat(names.flatMap((name) => [Buffer.of(name.length), name]));
  encoded.set(protocols, list);
  return list;
}
