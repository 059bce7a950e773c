import { isIP } from 'node:net';

import ipaddr from 'ipaddr.js';

/** Addresses from `first` to `last`, both included, as numbers of 32 or 128 bits. */
export interface IpRange {
  readonly version: 4 | 6;
  readonly first: bigint;
  readonly last: bigint;
}

export interface IpAddress {
  readonly version: 4 | 6;
  readonly value: bigint;
}

/** The number that an address is; undefined when the text is none, and for addresses with a zone. */
export function parseIp(text: string): IpAddress | undefined {
  const version = isIP(text);
  if ((version !== 4 && version !== 6) || text.includes('%')) return undefined;
  return { version, value: bytesToNumber(ipaddr.parse(text).toByteArray()) };
}

/** Reads `192.0.2.0/28`, `192.0.2.10-192.0.2.19` or a single address; of a CIDR all addresses count. */
export function parseIpRange(text: string): IpRange | undefined {
  if (text.includes('/')) return parseCidr(text);
  const [from = '', to = from, ...rest] = text.split('-');
  const [first, last] = [parseIp(from), parseIp(to)];
  if (!first || first.version !== last?.version || first.value > last.value || rest.length > 0)
    return undefined;
  return { version: first.version, first: first.value, last: last.value };
}

function parseCidr(text: string): IpRange | undefined {
  const [address = '', prefix = '', ...rest] = text.split('/');
  const ip = parseIp(address);
  if (!ip || rest.length > 0 || !/^(0|[1-9]\d{0,2})$/.test(prefix)) return undefined;
  const bits = ip.version === 4 ? 32 : 128;
  if (Number(prefix) > bits) return undefined;
  const size = 1n << BigInt(bits - Number(prefix));
  const first = ip.value - (ip.value % size);
  return { version: ip.version, first, last: first + size - 1n };
}

/** The canonical text of an address: RFC 5952 for IPv6. */
export function formatIp({ version, value }: IpAddress): string {
  const size = version === 4 ? 4 : 16;
  const bytes = Array.from({ length: size }, (_, index) =>
    Number((value >> BigInt(8 * (size - 1 - index))) & 255n),
  );
  return ipaddr.fromByteArray(bytes).toString();
}

function bytesToNumber(bytes: readonly number[]): bigint {
  return bytes.reduce((sum, byte) => sum * 256n + BigInt(byte), 0n);
}
