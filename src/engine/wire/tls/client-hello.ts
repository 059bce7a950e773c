import { isIP } from 'node:net';

/** What a server needs to know before it chooses a certificate. */
export type ClientHello =
  /** The bytes so far are a good start: read on. */
  | { readonly state: 'more' }
  /** No ClientHello will come of these bytes. */
  | { readonly state: 'invalid'; readonly reason: string }
  | {
      readonly state: 'complete';
      /** Lower case, without a trailing dot; `''` when none was sent. */
      readonly serverName: string;
      /** In the client's order; empty when none were sent. */
      readonly alpn: readonly string[];
    };

/** Most bytes of a ClientHello with its record headers. Longer ones are refused: they cost memory before they say who they are. */
export const CLIENT_HELLO_LIMIT = 16 * 1024;

const RECORD_HEADER = 5;
const HANDSHAKE_HEADER = 4;
const HANDSHAKE = 22;
const CLIENT_HELLO = 1;
const SERVER_NAME = 0;
const ALPN = 16;

const MORE: ClientHello = { state: 'more' };

/**
 * Reads the first `length` bytes of `buffer` as the start of a TLS connection (RFC 8446 sections 4.1.2 and 5.1,
 * RFC 6066 section 3, RFC 7301). Strict: what is not well-formed is invalid as soon as it can be seen. Pure.
 */
export function readClientHello(buffer: Buffer, length: number): ClientHello {
  const message = readMessage(buffer, length);
  if (!Buffer.isBuffer(message)) return message;
  try {
    return readBody(new Reader(message, HANDSHAKE_HEADER, message.length));
  } catch (error) {
    if (error instanceof Malformed) return invalid(error.message);
    throw error;
  }
}

/** The handshake message with its header, put together from its records; a view when it came in one. */
function readMessage(buffer: Buffer, length: number): Buffer | ClientHello {
  const parts: Buffer[] = [];
  let have = 0;
  let want = HANDSHAKE_HEADER;
  for (let offset = 0; have < want;) {
    const fault = recordFault(buffer, offset, length);
    if (fault !== undefined) return invalid(fault);
    if (length - offset < RECORD_HEADER) return MORE;

    const recordLength = buffer.readUInt16BE(offset + 3);
    if (recordLength === 0 || recordLength > CLIENT_HELLO_LIMIT) return invalid('bad record length');
    const end = offset + RECORD_HEADER + recordLength;
    const part = buffer.subarray(offset + RECORD_HEADER, Math.min(end, length));
    parts.push(part);
    have += part.length;
    if (have > 0 && firstByte(parts) !== CLIENT_HELLO) return invalid('not a ClientHello');
    if (have >= HANDSHAKE_HEADER && want === HANDSHAKE_HEADER) {
      want = HANDSHAKE_HEADER + (joined(parts).readUInt32BE(0) & 0xffffff);
    }
    if (want > CLIENT_HELLO_LIMIT || (have < want && end > CLIENT_HELLO_LIMIT))
      return invalid('ClientHello too long');
    if (have < want && end > length) return MORE;
    offset = end;
  }
  return joined(parts).subarray(0, want);
}

/** What is wrong with a record header of which only a part may be there. */
function recordFault(buffer: Buffer, offset: number, length: number): string | undefined {
  if (length > offset && buffer[offset] !== HANDSHAKE) return 'not a TLS handshake record';
  if (length > offset + 1 && buffer[offset + 1] !== 3) return 'not a TLS version';
  if (length > offset + 2 && (buffer[offset + 2] ?? 0xff) > 4) return 'not a TLS version';
  return undefined;
}

function firstByte(parts: readonly Buffer[]): number | undefined {
  return parts.find((part) => part.length > 0)?.[0];
}

function joined(parts: readonly Buffer[]): Buffer {
  const [first] = parts;
  return parts.length === 1 && first !== undefined ? first : Buffer.concat(parts);
}

function readBody(hello: Reader): ClientHello {
  if (hello.uint8() !== 3) return invalid('bad legacy_version');
  hello.skip(1 + 32);
  if (hello.vector(1).left > 32) return invalid('session id too long');
  const ciphers = hello.vector(2);
  if (ciphers.left < 2 || ciphers.left % 2 !== 0) return invalid('bad cipher suites');
  if (hello.vector(1).left < 1) return invalid('no compression method');

  let serverName = '';
  let alpn: readonly string[] = [];
  // TLS 1.2 lets a client leave extensions out altogether: RFC 5246 section 7.4.1.2.
  const extensions = hello.left === 0 ? hello : hello.vector(2);
  if (hello.left !== 0) return invalid('bytes after the extensions');
  const seen = new Set<number>();
  while (extensions.left > 0) {
    const type = extensions.uint16();
    const body = extensions.vector(2);
    if (seen.has(type)) return invalid('an extension twice');
    seen.add(type);
    if (type === SERVER_NAME) serverName = readServerName(body);
    else if (type === ALPN) alpn = readAlpn(body);
  }
  return { state: 'complete', serverName, alpn };
}

function readServerName(extension: Reader): string {
  const list = extension.vector(2);
  extension.mustEnd();
  if (list.uint8() !== 0) throw new Malformed('server name is no host name');
  const name = list.vector(2).text().toLowerCase();
  list.mustEnd();
  // RFC 6066 section 3 forbids addresses; clients that send one mean no name.
  if (isIP(name) !== 0) return '';
  const bare = name.endsWith('.') ? name.slice(0, -1) : name;
  if (!HOST_NAME.test(bare)) throw new Malformed('bad server name');
  return bare;
}

/** At most 253 bytes of labels; underscores exist in practice. */
const HOST_NAME =
  /^(?=.{1,253}$)[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?)*$/;

function readAlpn(extension: Reader): readonly string[] {
  const list = extension.vector(2);
  extension.mustEnd();
  const protocols: string[] = [];
  while (list.left > 0) {
    const name = list.vector(1);
    if (name.left === 0) throw new Malformed('empty ALPN protocol');
    protocols.push(name.text());
  }
  if (protocols.length === 0) throw new Malformed('empty ALPN list');
  return protocols;
}

function invalid(reason: string): ClientHello {
  return { state: 'invalid', reason };
}

class Malformed extends Error {}

class Reader {
  readonly #bytes: Buffer;
  #offset: number;
  readonly #end: number;

  constructor(bytes: Buffer, offset: number, end: number) {
    this.#bytes = bytes;
    this.#offset = offset;
    this.#end = end;
  }

  get left(): number {
    return this.#end - this.#offset;
  }

  uint8(): number {
    const at = this.#offset;
    this.skip(1);
    return this.#bytes.readUInt8(at);
  }

  uint16(): number {
    const at = this.#offset;
    this.skip(2);
    return this.#bytes.readUInt16BE(at);
  }

  /** A reader of what follows a length of that many bytes. */
  vector(lengthBytes: 1 | 2): Reader {
    const length = lengthBytes === 1 ? this.uint8() : this.uint16();
    const at = this.#offset;
    this.skip(length);
    return new Reader(this.#bytes, at, this.#offset);
  }

  text(): string {
    return this.#bytes.toString('latin1', this.#offset, this.#end);
  }

  skip(count: number): void {
    if (count > this.left) throw new Malformed('a length points past its end');
    this.#offset += count;
  }

  mustEnd(): void {
    if (this.left > 0) throw new Malformed('bytes left over');
  }
}
