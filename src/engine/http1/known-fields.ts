/**
 * Fields that the engine looks at, by number, so that a received name is compared once and never becomes a string.
 * Numbers are below 32: a bit mask says which of them a message has.
 */
export const HOST = 1;
export const CONTENT_LENGTH = 2;
export const TRANSFER_ENCODING = 3;
export const CONNECTION = 4;
export const UPGRADE = 5;
export const TE = 6;
export const EXPECT = 7;
export const KEEP_ALIVE = 8;
/** Hop by hop, or the gateway's own: never passed on. */
export const NEVER_FORWARDED = 9;
/** Says where a request came from: passed on for trusted peers only. */
export const FORWARDED = 10;
export const DATE = 11;
export const CACHE_CONTROL = 12;
export const COOKIE = 13;
export const AUTHORIZATION = 14;
export const RANGE = 15;
export const IF_NONE_MATCH = 16;
export const IF_MODIFIED_SINCE = 17;
export const ORIGIN = 18;
export const CONTENT_TYPE = 19;
export const VIA = 20;
export const SET_COOKIE = 21;
export const IF_MATCH = 22;
export const IF_RANGE = 23;
export const IF_UNMODIFIED_SINCE = 24;
export const PRAGMA = 26;
export const ACCEPT_ENCODING = 27;
export const ACCEPT_LANGUAGE = 28;
export const ACCEPT = 29;

/** Numbers that stand for one name, which the mask and a comparison of numbers answer alone. */
const SINGLE: readonly (readonly [string, number])[] = [
  ['host', HOST],
  ['content-length', CONTENT_LENGTH],
  ['transfer-encoding', TRANSFER_ENCODING],
  ['connection', CONNECTION],
  ['upgrade', UPGRADE],
  ['te', TE],
  ['expect', EXPECT],
  ['keep-alive', KEEP_ALIVE],
  ['date', DATE],
  ['cache-control', CACHE_CONTROL],
  ['cookie', COOKIE],
  ['authorization', AUTHORIZATION],
  ['range', RANGE],
  ['if-none-match', IF_NONE_MATCH],
  ['if-modified-since', IF_MODIFIED_SINCE],
  ['origin', ORIGIN],
  ['content-type', CONTENT_TYPE],
  ['via', VIA],
  ['set-cookie', SET_COOKIE],
  ['if-match', IF_MATCH],
  ['if-range', IF_RANGE],
  ['if-unmodified-since', IF_UNMODIFIED_SINCE],
  ['pragma', PRAGMA],
  // What most responses vary by.
  ['accept-encoding', ACCEPT_ENCODING],
  ['accept-language', ACCEPT_LANGUAGE],
  ['accept', ACCEPT],
];

/**
 * Names that say where a request came from. `x-real-ip` and friends are here too: a backend that believes them must
 * not be told by the client.
 */
export const FORWARDED_NAMES: ReadonlySet<string> = new Set([
  'forwarded',
  'x-forwarded-for',
  'x-forwarded-proto',
  'x-forwarded-host',
  'x-forwarded-port',
  'x-forwarded-server',
  'x-real-ip',
]);

/**
 * Connection-specific fields (RFC 9110 section 7.6.1), those of the next hop only, and results that only the gateway
 * may report (case H-05).
 */
export const NEVER_FORWARDED_NAMES: ReadonlySet<string> = new Set([
  'proxy-connection',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-authentication-info',
  'trailer',
  'http2-settings',
]);

/** What a client may not say, since it is the gateway that says it. */
export const RESULT_NAMES: ReadonlySet<string> = new Set(['x-trickster-result', 'cache-status']);

interface KnownName {
  readonly bytes: Buffer;
  readonly id: number;
  readonly next: KnownName | undefined;
}

/** Index: length in the upper, first letter in the lower five bits. */
const DISPATCH: (KnownName | undefined)[] = Array.from({ length: 1024 }, () => undefined);
const ID_BY_NAME = new Map<string, number>(SINGLE);
/** A number of its own for what only requests lose. */
export const RESULT = 25;

function register(name: string, id: number): void {
  const slot = (name.length << 5) | (name.charCodeAt(0) & 31);
  DISPATCH[slot] = { bytes: Buffer.from(name, 'latin1'), id, next: DISPATCH[slot] };
}

for (const [name, id] of SINGLE) register(name, id);
for (const name of FORWARDED_NAMES) register(name, FORWARDED);
for (const name of NEVER_FORWARDED_NAMES) register(name, NEVER_FORWARDED);
for (const name of RESULT_NAMES) register(name, RESULT);

/** Number of the name at `buffer[start, start + length)`, or 0. */
export function knownId(buffer: Buffer, start: number, length: number): number {
  if (length > 31) return 0;
  let known = DISPATCH[(length << 5) | ((buffer[start] ?? 0) & 31)];
  while (known !== undefined) {
    const { bytes } = known;
    let i = 0;
    while (i < length && ((buffer[start + i] ?? 0) | 0x20) === bytes[i]) i++;
    if (i === length) return known.id;
    known = known.next;
  }
  return 0;
}

/** The mask that stands for names. All of them must have a number, which only adding them above gives. */
export function maskOf(names: Iterable<string>): number {
  let mask = 0;
  for (const name of names) {
    const id = idOf(name);
    if (id === 0) throw new Error(`the field ${name} has no number`);
    mask |= 1 << id;
  }
  return mask;
}

/** Number of a name that has one of its own, or 0. */
export function idOf(name: string): number {
  return ID_BY_NAME.get(name) ?? 0;
}
