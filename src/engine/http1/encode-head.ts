import { STATUS_CODES } from 'node:http';
import { randomBytes } from 'node:crypto';
import { writeLatin1 } from '../exchange/fields.js';
import type { RequestHead } from '../exchange/heads.js';
import { RawRequestHead } from './raw-heads.js';

const VERSION = Buffer.from(' HTTP/1.1\r\n', 'latin1');
const CHUNKED = Buffer.from('transfer-encoding: chunked\r\n', 'latin1');
/** The lines that frame a head take less. */
const FRAMING_BYTES = 512;

/**
 * Writes the head of a request in HTTP/1.1 with the framing that its length asks for. Answers the offset behind it, or -1
 * when it does not fit.
 */
export function encodeRequestHead(head: RequestHead, target: Buffer, offset: number): number {
  let at = offset;
  const raw = head instanceof RawRequestHead ? head : undefined;
  const targetLength = raw?.isTargetRaw === true ? raw.targetEnd - raw.targetStart : head.path.length;
  const fixed = head.method.length + targetLength + head.authority.length + FRAMING_BYTES;
  if (at + fixed > target.length) return -1;
  at = writeLatin1(target, at, head.method);
  target[at++] = 0x20;
  if (raw?.isTargetRaw === true) at = raw.writeTarget(target, at);
  else at = writeLatin1(target, at, head.path);
  at = writeBytes(target, at, VERSION);
  if (raw?.isHostRaw !== true) at = writeHost(head, target, at);
  at = head.fields.writeHttp1(target, at);
  if (at < 0 || at + FRAMING_BYTES > target.length) return -1;
  if (head.upgrade !== '') at = writeUpgrade(head, target, at);
  if (head.contentLength < 0) at = writeBytes(target, at, CHUNKED);
  else if (announcesLength(head) && !head.fields.has('content-length')) {
    at = writeText(target, at, `content-length: ${head.contentLength}\r\n`);
  }
  target[at++] = 13;
  target[at++] = 10;
  return at;
}

function writeHost(head: RequestHead, target: Buffer, offset: number): number {
  let at = writeText(target, offset, 'host: ');
  at = writeLatin1(target, at, head.authority);
  return writeText(target, at, '\r\n');
}

/** RFC 9110 section 8.6: of methods that are expected to have a body an empty one is announced. */
function announcesLength(head: RequestHead): boolean {
  if (head.contentLength > 0) return true;
  return head.method === 'POST' || head.method === 'PUT' || head.method === 'PATCH';
}

function writeUpgrade(head: RequestHead, target: Buffer, offset: number): number {
  const at = writeText(target, offset, `connection: upgrade\r\nupgrade: ${head.upgrade}\r\n`);
  if (head.upgrade !== 'websocket' || head.fields.has('sec-websocket-key')) return at;
  // The request came by HTTP/2, which has no key (RFC 8441 section 5).
  return writeText(target, at, `sec-websocket-key: ${randomBytes(16).toString('base64')}\r\n`);
}

const statusLines: (Buffer | undefined)[] = [];

/** `HTTP/1.1 200 OK\r\n`. */
export function statusLine(status: number): Buffer {
  return (statusLines[status] ??= Buffer.from(
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n`,
    'latin1',
  ));
}

/** Writes bytes that are known to fit; answers the offset behind. A loop beats a call for so few. */
export function writeBytes(target: Buffer, offset: number, bytes: Buffer): number {
  const { length } = bytes;
  for (let i = 0; i < length; i++) target[offset + i] = bytes[i] ?? 0;
  return offset + length;
}

/** Writes our own text, line ends included. */
export function writeText(target: Buffer, offset: number, text: string): number {
  const { length } = text;
  for (let i = 0; i < length; i++) target[offset + i] = text.charCodeAt(i);
  return offset + length;
}

/** Writes the size line of a chunk so that it ends at `end`; answers its start. */
export function writeChunkSizeBefore(target: Buffer, end: number, size: number): number {
  let at = end;
  target[--at] = 10;
  target[--at] = 13;
  let rest = size;
  do {
    const digit = rest & 15;
    target[--at] = digit < 10 ? 0x30 + digit : 0x57 + digit;
    rest >>>= 4;
  } while (rest > 0);
  return at;
}

/** Bytes that {@link writeChunkSizeBefore} needs at most (sizes below 2^32). */
export const CHUNK_SIZE_BYTES = 10;
/** CRLF after the data, and the last chunk with its empty trailer section. */
export const CHUNK_END_BYTES = 7;
