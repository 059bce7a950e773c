/**
 * Strict HTTP/1.1 head parser (RFC 9112): one pass over the bytes, no allocation for what is usual.
 *
 * In: a buffer that holds the beginning of a message. Out: numbers written to a head. Whatever two servers could
 * read differently is refused, never repaired (sections 2.2, 3, 5, 6.3, 11.2).
 */
import { TARGET, TOKEN, VALUE } from './characters.js';
import { FieldParser, INCOMPLETE } from './field-parser.js';
import { MAX_HEAD_BYTES, type RawRequestHead, type RawResponseHead } from './raw-heads.js';
import { resolveTarget } from './request-target.js';

const CR = 13;
const LF = 10;
const SP = 32;
const ZERO = 0x30;

/** A longer method is none. */
const MAX_METHOD_BYTES = 32;
const MAX_TARGET_BYTES = 16 * 1024;

const METHODS: readonly string[] = ['GET', 'POST', 'HEAD', 'PUT', 'DELETE', 'OPTIONS', 'PATCH'];
const METHOD_BYTES: readonly Buffer[] = METHODS.map((method) => Buffer.from(method, 'latin1'));
const VERSION = Buffer.from('HTTP/1.', 'latin1');

const requestFields = new FieldParser('request');
const responseFields = new FieldParser('response');

/**
 * Parses a request head at `buffer[start, end)`. Answers the offset behind it, {@link INCOMPLETE}, or the negative
 * status to refuse with; `head.problem` then says why.
 * `head.scheme` and `head.trusted` are set before.
 */
export function parseRequestHead(buffer: Buffer, start: number, end: number, head: RawRequestHead): number {
  head.reset(buffer, start);
  let at = start;
  while (at < end && TOKEN[buffer[at] ?? 0] !== 0) at++;
  if (at - start > MAX_METHOD_BYTES) return refuse(head, 400, 'the method is too long');
  if (at >= end) return INCOMPLETE;
  if (buffer[at] !== SP || at === start) return refuse(head, 400, 'the request line is malformed');
  head.method = methodAt(buffer, start, at);

  const target = ++at;
  let marks = 0;
  let mark = 0;
  while (at < end && (mark = TARGET[buffer[at] ?? 0] ?? 0) !== 0) {
    marks |= mark;
    at++;
  }
  if (at - target > MAX_TARGET_BYTES) return refuse(head, 414, 'the target is too long');
  if ((marks & 8) !== 0) return refuse(head, 400, 'the target has a fragment or a backslash');
  if (at >= end) return INCOMPLETE;
  if (buffer[at] !== SP || at === target) return refuse(head, 400, 'the request target is malformed');
  head.targetStart = target;
  head.targetEnd = at++;

  const version = versionAt(buffer, at, end);
  if (version < 0)
    return version === NEEDS_MORE ? INCOMPLETE : refuse(head, -version, 'the version is not HTTP/1.x');
  at += 8;
  if (at < end && buffer[at] !== CR) return refuse(head, 400, 'the request line is malformed');
  if (at + 1 >= end) return INCOMPLETE;
  if (buffer[at + 1] !== LF) return refuse(head, 400, 'the request line does not end in CRLF');
  head.minor = version;

  requestFields.trusted = head.trusted;
  const behind = requestFields.parse(buffer, at + 2, end, head.fields);
  if ((behind === INCOMPLETE ? end : behind) - start > MAX_HEAD_BYTES)
    return refuse(head, 431, 'the head is too large');
  if (behind < 0) return refuse(head, requestFields.status, requestFields.problem);
  if (behind === INCOMPLETE) return INCOMPLETE;
  head.end = behind;
  const status = takeRequestFields(head, marks);
  return status === 0 ? behind : -status;
}

/** Takes over what the fields said; answers 0 or the status to refuse with. */
function takeRequestFields(head: RawRequestHead, marks: number): number {
  const said = requestFields;
  head.chunked = said.chunked;
  head.contentLength = said.chunked ? -1 : Math.max(said.contentLength, 0);
  head.close = said.close || (head.minor === 0 && !said.keepAlive);
  head.acceptsTrailers = said.acceptsTrailers;
  head.hasForwarded = said.hasForwarded;
  head.hostStart = said.hostStart;
  head.hostEnd = said.hostEnd;
  // RFC 9112 section 6.1: chunked is not of 1.0, and a message that says so is suspect.
  if (said.chunked && head.minor === 0) return fault(head, 400, 'Transfer-Encoding in HTTP/1.0');
  if (said.hosts > 1) return fault(head, 400, 'Host is repeated');
  if (said.hosts === 0 && head.minor === 1) return fault(head, 400, 'Host is missing');
  if (said.expect !== '') {
    if (said.expect !== '100-continue') return fault(head, 417, 'Expect is not 100-continue');
    // RFC 9110 section 10.1.1: ignored in 1.0 and without a body.
    head.expectContinue = head.minor === 1 && head.contentLength !== 0;
  }
  // An upgrade with a body would be a tunnel whose beginning nobody agrees on (case W-05).
  if (said.upgrade !== '' && said.upgradeOption && head.minor === 1 && head.contentLength === 0) {
    head.upgrade = said.upgrade;
  }
  return resolveTarget(head, marks, said.hosts === 1);
}

/**
 * Parses a response head at `buffer[start, end)`. Answers the offset behind it, {@link INCOMPLETE}, or -1 with
 * `head.problem`.
 */
export function parseResponseHead(buffer: Buffer, start: number, end: number, head: RawResponseHead): number {
  head.reset(buffer);
  const version = versionAt(buffer, start, end);
  if (version === NEEDS_MORE) return INCOMPLETE;
  if (version < 0) return broken(head, 'the version is not HTTP/1.x');
  let at = start + 8;
  if (at + 4 >= end) return INCOMPLETE;
  const a = (buffer[at + 1] ?? 0) - ZERO;
  const b = (buffer[at + 2] ?? 0) - ZERO;
  const c = (buffer[at + 3] ?? 0) - ZERO;
  if (buffer[at] !== SP || a < 1 || a > 9 || b < 0 || b > 9 || c < 0 || c > 9) {
    return broken(head, 'the status line is malformed');
  }
  head.minor = version;
  head.status = a * 100 + b * 10 + c;
  at += 4;
  // Some servers leave out the space before an empty reason phrase.
  if (buffer[at] !== SP && buffer[at] !== CR) return broken(head, 'the status line is malformed');
  while (at < end && VALUE[buffer[at] ?? 0] === 1) at++;
  if (at < end && buffer[at] !== CR) return broken(head, 'the status line is malformed');
  if (at + 1 >= end) return INCOMPLETE;
  if (buffer[at + 1] !== LF) return broken(head, 'the status line does not end in CRLF');

  const said = responseFields;
  const behind = said.parse(buffer, at + 2, end, head.fields);
  if (behind === INCOMPLETE) return INCOMPLETE;
  if (behind < 0) return broken(head, said.problem);
  if (said.chunked && version === 0) return broken(head, 'Transfer-Encoding in HTTP/1.0');
  head.chunked = said.chunked;
  head.contentLength = said.contentLength;
  head.close = said.close || (version === 0 && !said.keepAlive);
  head.upgrade = said.upgradeOption;
  head.keepAliveSeconds = said.keepAliveSeconds;
  return behind;
}

function refuse(head: RawRequestHead, status: number, problem: string): number {
  head.problem = problem;
  return -status;
}

function fault(head: RawRequestHead, status: number, problem: string): number {
  head.problem = problem;
  return status;
}

function broken(head: RawResponseHead, problem: string): -1 {
  head.problem = problem;
  return -1;
}

function methodAt(buffer: Buffer, start: number, end: number): string {
  const length = end - start;
  for (let i = 0; i < METHOD_BYTES.length; i++) {
    const bytes = METHOD_BYTES[i];
    if (bytes?.length !== length) continue;
    let k = 0;
    while (k < length && bytes[k] === buffer[start + k]) k++;
    if (k === length) return METHODS[i] ?? '';
  }
  return buffer.toString('latin1', start, end);
}

const NEEDS_MORE = -1;

/** Minor version of `HTTP/1.x` at `at`, {@link NEEDS_MORE}, or the negative status to refuse with. */
function versionAt(buffer: Buffer, at: number, end: number): number {
  const available = Math.min(end - at, VERSION.length);
  for (let i = 0; i < available; i++) {
    // A version of HTTP that is not ours, or something that is not HTTP.
    if (buffer[at + i] !== VERSION[i]) return i === 5 || i === 6 ? -505 : -400;
  }
  if (at + 8 > end) return NEEDS_MORE;
  const minor = (buffer[at + 7] ?? 0) - ZERO;
  return minor === 0 || minor === 1 ? minor : -505;
}
