import { BlockList, isIPv6 } from 'node:net';
import type { ListenerSettings } from '../../ir/listener.js';
import type { DownstreamContext } from './downstream.js';
import { FieldBlock, type Fields } from './fields.js';

/**
 * Which fields tell a backend where a request came from: `x`: `X-Forwarded-For`, `-Proto`, `-Host`. `standard`: `Forwarded`
 * (RFC 7239).
 */
export type ForwardedForm = 'x' | 'standard' | 'both' | 'none';

/** Addresses whose word about clients is believed. */
export class TrustedProxies {
  readonly #list: BlockList | undefined;

  /** Ranges that are none were refused when the configuration was read; here they match nothing. */
  constructor(ranges: readonly string[]) {
    if (ranges.length === 0) return;
    this.#list = new BlockList();
    for (const range of ranges) addRange(this.#list, range);
  }

  has(address: string): boolean {
    return this.#list?.check(address, isIPv6(address) ? 'ipv6' : 'ipv4') ?? false;
  }
}

function addRange(list: BlockList, range: string): void {
  const [address = '', length] = range.split('/');
  const family = isIPv6(address) ? 'ipv6' : 'ipv4';
  try {
    if (length === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(length), family);
  } catch {
    // Not an address: it matches nothing, which is the safe reading.
  }
}

export interface ConnectionContextInit {
  readonly listener: string;
  readonly settings: ListenerSettings;
  readonly secure: boolean;
  readonly sniServer: string | undefined;
  readonly remoteAddress: string;
  readonly remotePort: number;
  readonly localAddress: string;
  readonly localPort: number;
  readonly trusted: boolean;
  readonly forwarded: ForwardedForm;
}

/** The plain implementation of {@link DownstreamContext}. */
export class ConnectionContext implements DownstreamContext {
  readonly listener: string;
  readonly settings: ListenerSettings;
  readonly secure: boolean;
  readonly sniServer: string | undefined;
  readonly remoteAddress: string;
  readonly remotePort: number;
  readonly localAddress: string;
  readonly localPort: number;
  readonly trusted: boolean;
  readonly #form: ForwardedForm;
  #lastAuthority: string | undefined = undefined;
  #lastBlock: FieldBlock | undefined = undefined;

  constructor(init: ConnectionContextInit) {
    this.listener = init.listener;
    this.settings = init.settings;
    this.secure = init.secure;
    this.sniServer = init.sniServer;
    this.remoteAddress = withoutMapping(init.remoteAddress);
    this.remotePort = init.remotePort;
    this.localAddress = withoutMapping(init.localAddress);
    this.localPort = init.localPort;
    this.trusted = init.trusted;
    this.#form = init.forwarded;
  }

  addForwarded(fields: Fields, authority: string): void {
    if (this.trusted) mergeForwarded(fields, this.#forwarded(authority));
    // Not for the first time, which mostly is the only one, or one of a client that asks many hosts: it costs more.
    else if (authority === this.#lastAuthority) fields.addBlock(this.#preparedFor(authority));
    else {
      this.#lastAuthority = authority;
      this.#lastBlock = undefined;
      const flat = this.#forwarded(authority);
      for (let i = 0; i + 1 < flat.length; i += 2) fields.add(flat[i] ?? '', flat[i + 1] ?? '');
    }
  }

  #preparedFor(authority: string): FieldBlock {
    return (this.#lastBlock ??= new FieldBlock(this.#forwarded(authority)));
  }

  #forwarded(authority: string): string[] {
    const proto = this.secure ? 'https' : 'http';
    const flat: string[] = [];
    if (this.#form === 'x' || this.#form === 'both') {
      flat.push('x-forwarded-for', this.remoteAddress, 'x-forwarded-proto', proto);
      if (authority !== '') flat.push('x-forwarded-host', authority);
    }
    if (this.#form === 'standard' || this.#form === 'both') {
      // RFC 7239 section 6: IPv6 in brackets, and what is not a token in quotes.
      const client = isIPv6(this.remoteAddress) ? `"[${this.remoteAddress}]"` : this.remoteAddress;
      const host = authority === '' ? '' : `;host="${authority}"`;
      flat.push('forwarded', `for=${client}${host};proto=${proto}`);
    }
    return flat;
  }
}

/** Sockets of both families say ::ffff:10.0.0.1; backends and lists know 10.0.0.1. */
function withoutMapping(address: string): string {
  return address.startsWith('::') ? address.replace(/^::ffff:(?=\d+\.)/i, '') : address;
}

/** Lists grow by the hop; what a trusted proxy said of scheme and host stays. */
function mergeForwarded(fields: Fields, flat: readonly string[]): void {
  for (let i = 0; i + 1 < flat.length; i += 2) {
    const name = flat[i] ?? '';
    const value = flat[i + 1] ?? '';
    const before = fields.getAll(name);
    if (before.length === 0) fields.add(name, value);
    else if (name === 'forwarded' || name === 'x-forwarded-for')
      fields.set(name, [...before, value].join(', '));
  }
}
