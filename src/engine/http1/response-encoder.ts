import type { ResponseHead } from '../exchange/heads.js';
import { statusLine, writeBytes, writeText } from './encode-head.js';

/** How the body of a response ends (RFC 9112 section 6.3). */
export const FRAMING_NONE = 0;
export const FRAMING_LENGTH = 1;
export const FRAMING_CHUNKED = 2;
/** By the end of the connection: HTTP/1.0 clients and bodies of unknown length. */
export const FRAMING_CLOSE = 3;
/** Bytes without a form, after 101. */
export const FRAMING_TUNNEL = 4;
export type Framing =
  | typeof FRAMING_NONE
  | typeof FRAMING_LENGTH
  | typeof FRAMING_CHUNKED
  | typeof FRAMING_CLOSE
  | typeof FRAMING_TUNNEL;

const CHUNKED = Buffer.from('transfer-encoding: chunked\r\n', 'latin1');
const CLOSE = Buffer.from('connection: close\r\n', 'latin1');
const KEEP_ALIVE = Buffer.from('connection: keep-alive\r\n', 'latin1');
/** The lines that are added here take less. */
const ADDED_BYTES = 256;

/** What the connection knows about the response that the head does not say. */
export class ResponseForm {
  framing: Framing = FRAMING_NONE;
  /** Length to announce where the head has no field for it; -1: none. */
  length = -1;
  close = false;
  /** The client is HTTP/1.0 and asked to keep the connection. */
  announceKeepAlive = false;
  /** Protocol of the tunnel, with 101. */
  upgrade = '';
}

/**
 * Writes the head of a response in HTTP/1.1 into `target`. Answers the offset behind it, or -1 when it does not fit. The
 * status line says HTTP/1.1 whatever the client spoke (RFC 9110 section 6.2).
 */
export function encodeResponseHead(
  head: ResponseHead,
  form: ResponseForm,
  target: Buffer,
  offset: number,
): number {
  let at = writeBytes(target, offset, statusLine(head.status));
  at = head.fields.writeHttp1(target, at);
  if (at < 0 || at + ADDED_BYTES > target.length) return -1;
  if (form.length >= 0 && !head.fields.has('content-length')) {
    at = writeText(target, at, `content-length: ${form.length}\r\n`);
  }
  if (form.framing === FRAMING_CHUNKED) at = writeBytes(target, at, CHUNKED);
  if (form.framing === FRAMING_TUNNEL)
    at = writeText(target, at, `connection: upgrade\r\nupgrade: ${form.upgrade}\r\n`);
  else if (form.close) at = writeBytes(target, at, CLOSE);
  else if (form.announceKeepAlive) at = writeBytes(target, at, KEEP_ALIVE);
  target[at++] = 13;
  target[at++] = 10;
  return at;
}
