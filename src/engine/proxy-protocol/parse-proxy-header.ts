import { isIP } from 'node:net';

/** What a PROXY header says; addresses are absent for connections of the proxy itself (health checks). */
export interface ProxyHeader {
  /** Bytes that the header takes. */
  readonly length: number;
  readonly source: ProxyAddress | undefined;
  readonly destination: ProxyAddress | undefined;
}

export interface ProxyAddress {
  readonly address: string;
  readonly port: number;
}

/** More bytes are needed, or a sentence saying what is wrong. */
export type NoProxyHeader =
  { readonly state: 'incomplete' } | { readonly state: 'refused'; readonly problem: string };

const SIGNATURE = Buffer.from('\r\n\r\n\0\r\nQUIT\n', 'latin1');
const V1 = Buffer.from('PROXY ', 'latin1');
/** Longest line of version 1, CRLF included. */
const MAX_V1_BYTES = 107;
/** Addresses and what may follow them in version 2; larger ones are none we must take. */
const MAX_V2_BYTES = 4096;

const INCOMPLETE: NoProxyHeader = { state: 'incomplete' };

/** Reads a PROXY protocol header, version 1 or 2, at the start of `bytes`. */
export function parseProxyHeader(bytes: Buffer): ProxyHeader | NoProxyHeader {
  if (beginsAs(bytes, V1)) return bytes.length < V1.length ? INCOMPLETE : parseV1(bytes);
  if (beginsAs(bytes, SIGNATURE)) return bytes.length < 16 ? INCOMPLETE : parseV2(bytes);
  return refused('the connection does not begin with a PROXY header');
}

/** What is there of `bytes` agrees with the start of `prefix`. */
function beginsAs(bytes: Buffer, prefix: Buffer): boolean {
  const length = Math.min(bytes.length, prefix.length);
  return length > 0 && bytes.subarray(0, length).equals(prefix.subarray(0, length));
}

function parseV1(bytes: Buffer): ProxyHeader | NoProxyHeader {
  const end = bytes.subarray(0, MAX_V1_BYTES).indexOf('\r\n');
  if (end < 0) return bytes.length < MAX_V1_BYTES ? INCOMPLETE : refused('the PROXY line is too long');
  const line = bytes.toString('latin1', 0, end);
  if (/^PROXY UNKNOWN( |$)/.test(line)) return { length: end + 2, source: undefined, destination: undefined };
  const match = /^PROXY TCP([46]) (\S+) (\S+) (\d{1,5}) (\d{1,5})$/.exec(line);
  if (!match) return refused('the PROXY line is malformed');
  const [, family, from = '', to = '', fromPort, toPort] = match;
  const source = { address: from, port: Number(fromPort) };
  const destination = { address: to, port: Number(toPort) };
  const isValid = [source, destination].every(
    ({ address, port }) => isIP(address) === Number(family) && port <= 65_535,
  );
  return isValid ? { length: end + 2, source, destination } : refused('the PROXY line has a bad address');
}

function parseV2(bytes: Buffer): ProxyHeader | NoProxyHeader {
  const version = bytes.readUInt8(12);
  const family = bytes.readUInt8(13);
  const length = 16 + bytes.readUInt16BE(14);
  if (version !== 0x20 && version !== 0x21)
    return refused('the PROXY header has an unknown version or command');
  if (length > MAX_V2_BYTES) return refused('the PROXY header is too long');
  if (bytes.length < length) return INCOMPLETE;
  const unnamed = { length, source: undefined, destination: undefined };
  // LOCAL: the proxy speaks for itself, whatever the addresses say.
  if (version === 0x20) return unnamed;
  if (family === 0x11) return length < 28 ? refused('the PROXY header is too short') : parseV4(bytes, length);
  if (family === 0x21) return length < 52 ? refused('the PROXY header is too short') : parseV6(bytes, length);
  return unnamed;
}

function parseV4(bytes: Buffer, length: number): ProxyHeader {
  return {
    length,
    source: { address: bytes.subarray(16, 20).join('.'), port: bytes.readUInt16BE(24) },
    destination: { address: bytes.subarray(20, 24).join('.'), port: bytes.readUInt16BE(26) },
  };
}

function parseV6(bytes: Buffer, length: number): ProxyHeader {
  return {
    length,
    source: { address: ipv6At(bytes, 16), port: bytes.readUInt16BE(48) },
    destination: { address: ipv6At(bytes, 32), port: bytes.readUInt16BE(50) },
  };
}

function ipv6At(bytes: Buffer, offset: number): string {
  const groups = Array.from({ length: 8 }, (_, i) => bytes.readUInt16BE(offset + 2 * i).toString(16));
  // The URL parser writes addresses in the form of RFC 5952.
  return new URL(`http://[${groups.join(':')}]/`).hostname.slice(1, -1);
}

function refused(problem: string): NoProxyHeader {
  return { state: 'refused', problem };
}
