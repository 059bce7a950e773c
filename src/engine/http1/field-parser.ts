import { TOKEN } from './characters.js';
import * as known from './known-fields.js';
import type { RawFields } from './raw-fields.js';

/** More bytes are needed. */
export const INCOMPLETE = 0;

export type Section = 'request' | 'response' | 'trailers';

const CR = 13;
const LF = 10;
const SP = 32;
const HTAB = 9;
const COLON = 58;
const COMMA = 44;
const DEL = 127;

/** 15 digits are exact in a double. */
const MAX_LENGTH_DIGITS = 15;

/**
 * Parses the field lines of one kind of section and notes what they say about connection and framing. Fields that are
 * not passed on are marked so. The notes are valid until the next {@link FieldParser.parse}.
 */
export class FieldParser {
  /** Requests: `Forwarded` and `X-Forwarded-*` of this peer are kept. */
  trusted = false;
  hosts = 0;
  hostStart = 0;
  hostEnd = 0;
  /** -1: no `Content-Length`. */
  contentLength = -1;
  chunked = false;
  close = false;
  keepAlive = false;
  /** `Connection` has the option `upgrade`. */
  upgradeOption = false;
  /** The one protocol of `Upgrade`, in lower case; `''` when there is none or more than one. */
  upgrade = '';
  acceptsTrailers = false;
  expect = '';
  hasForwarded = false;
  keepAliveSeconds = 0;
  /** Status to refuse with after -1. */
  status = 400;
  problem = '';
  readonly #section: Section;
  #nominated: string[] | undefined = undefined;
  #upgrades = 0;

  constructor(section: Section) {
    this.#section = section;
  }

  /**
   * Reads lines at `buffer[start, end)` up to and with the empty one into `fields`, which the caller has reset. Answers
   * the offset behind, {@link INCOMPLETE}, or -1 with `status` and `problem`.
   */
  parse(buffer: Buffer, start: number, end: number, fields: RawFields): number {
    this.#reset();
    let at = start;
    for (;;) {
      if (at >= end) return INCOMPLETE;
      if (buffer[at] === CR) {
        if (at + 1 >= end) return INCOMPLETE;
        if (buffer[at + 1] !== LF) return this.#refuse('the empty line does not end in CRLF');
        fields.finish(at);
        if (this.#nominated) dropNominated(fields, this.#nominated);
        return at + 2;
      }
      const nameStart = at;
      let marks = 0;
      let mark = 0;
      while (at < end && (mark = TOKEN[buffer[at] ?? 0] ?? 0) !== 0) {
        marks |= mark;
        at++;
      }
      if (at >= end) return INCOMPLETE;
      // Also refuses folded lines and white space before the colon (RFC 9112 sections 5.1 and 5.2).
      if (buffer[at] !== COLON || at === nameStart) return this.#refuse('a field name is malformed');
      const nameEnd = at++;
      while (at < end && (buffer[at] === SP || buffer[at] === HTAB)) at++;
      const valueStart = at;
      // What VALUE says, without a look into it for most bytes.
      let byte = 0;
      while (at < end && ((byte = buffer[at] ?? 0) > 0x1f ? byte !== DEL : byte === HTAB)) at++;
      if (at >= end) return INCOMPLETE;
      if (buffer[at] !== CR) return this.#refuse('a field value has a forbidden character');
      if (at + 1 >= end) return INCOMPLETE;
      if (buffer[at + 1] !== LF) return this.#refuse('a field line does not end in CRLF');
      let valueEnd = at;
      while (valueEnd > valueStart && (buffer[valueEnd - 1] === SP || buffer[valueEnd - 1] === HTAB))
        valueEnd--;
      at += 2;
      if (!fields.append(nameStart, nameEnd, valueStart, valueEnd)) {
        this.#refuse('there are too many fields');
        this.status = 431;
        return -1;
      }
      const id = known.knownId(buffer, nameStart, nameEnd - nameStart);
      if (id !== 0) {
        if (!this.#note(id, buffer, fields)) return -1;
      } else if ((marks & 2) !== 0 && this.#section === 'request') {
        this.#dropDisguised(buffer.toString('latin1', nameStart, nameEnd), fields);
      }
    }
  }

  #reset(): void {
    this.hosts = 0;
    this.hostStart = 0;
    this.hostEnd = 0;
    this.contentLength = -1;
    this.chunked = false;
    this.close = false;
    this.keepAlive = false;
    this.upgradeOption = false;
    this.upgrade = '';
    this.acceptsTrailers = false;
    this.expect = '';
    this.hasForwarded = false;
    this.keepAliveSeconds = 0;
    this.status = 400;
    this.#nominated = undefined;
    this.#upgrades = 0;
  }

  #refuse(problem: string): -1 {
    this.problem = problem;
    return -1;
  }

  /** False: the message is refused. */
  #note(id: number, buffer: Buffer, fields: RawFields): boolean {
    const start = fields.lastValueStart;
    const end = fields.lastValueEnd;
    switch (id) {
      case known.CONTENT_LENGTH:
        // Twice, even with one value, is once too often (RFC 9112 section 6.3).
        if (this.contentLength >= 0 || this.chunked) return this.#framing('Content-Length is not alone');
        this.contentLength = lengthAt(buffer, start, end);
        if (this.contentLength < 0) return this.#framing('Content-Length is not a number');
        if (this.#section === 'trailers') fields.dropLast();
        else fields.identify(id);
        return true;
      case known.TRANSFER_ENCODING:
        fields.dropLast();
        if (this.contentLength >= 0 || this.chunked) return this.#framing('Transfer-Encoding is not alone');
        if (buffer.toString('latin1', start, end).toLowerCase() !== 'chunked') {
          return this.#framing('Transfer-Encoding is not chunked');
        }
        this.chunked = true;
        return true;
      case known.CONNECTION:
        fields.dropLast();
        return this.#noteConnection(buffer, start, end);
      default:
        this.#noteOther(id, buffer, fields);
        return true;
    }
  }

  #noteOther(id: number, buffer: Buffer, fields: RawFields): void {
    const start = fields.lastValueStart;
    const end = fields.lastValueEnd;
    switch (id) {
      case known.HOST:
        this.hosts++;
        this.hostStart = start;
        this.hostEnd = end;
        if (this.#section === 'request') fields.identify(id);
        else fields.dropLast();
        return;
      case known.UPGRADE:
        fields.dropLast();
        this.upgrade = this.#upgrades++ === 0 ? upgradeOf(buffer.toString('latin1', start, end)) : '';
        return;
      case known.TE:
        fields.dropLast();
        if (/(^|[,\s])trailers($|[,;\s])/i.test(buffer.toString('latin1', start, end)))
          this.acceptsTrailers = true;
        return;
      case known.EXPECT:
        fields.dropLast();
        this.expect = buffer.toString('latin1', start, end).toLowerCase();
        return;
      case known.KEEP_ALIVE:
        fields.dropLast();
        this.keepAliveSeconds = Number(
          /(?:^|[\s,])timeout=(\d{1,6})/i.exec(buffer.toString('latin1', start, end))?.[1] ?? 0,
        );
        return;
      case known.NEVER_FORWARDED:
        fields.dropLast();
        return;
      case known.RESULT:
        if (this.#section === 'request') fields.dropLast();
        return;
      case known.FORWARDED:
        this.#noteForwarded(fields);
        return;
      default:
        fields.identify(id);
    }
  }

  #noteForwarded(fields: RawFields): void {
    if (this.#section !== 'request') return;
    if (this.trusted) this.hasForwarded = true;
    else fields.dropLast();
  }

  #noteConnection(buffer: Buffer, start: number, end: number): boolean {
    let at = start;
    while (at < end) {
      while (at < end && (buffer[at] === COMMA || buffer[at] === SP || buffer[at] === HTAB)) at++;
      const from = at;
      while (at < end && TOKEN[buffer[at] ?? 0] !== 0) at++;
      if (at > from) this.#noteOption(buffer, from, at);
      while (at < end && (buffer[at] === SP || buffer[at] === HTAB)) at++;
      if (at < end && buffer[at] !== COMMA) return this.#framing('Connection is malformed');
    }
    return true;
  }

  #noteOption(buffer: Buffer, start: number, end: number): void {
    // `keep-alive` is by far the most frequent: no text for it.
    if (end - start === 10 && ((buffer[start] ?? 0) | 0x20) === 0x6b && buffer[start + 4] === 0x2d) {
      this.keepAlive = true;
      return;
    }
    const option = buffer.toString('latin1', start, end).toLowerCase();
    if (option === 'close') this.close = true;
    else if (option === 'keep-alive') this.keepAlive = true;
    else if (option === 'upgrade') this.upgradeOption = true;
    else if (!NOT_BY_NOMINATION.has(option)) (this.#nominated ??= []).push(option);
  }

  #framing(problem: string): false {
    this.#refuse(problem);
    return false;
  }

  /**
   * `X_Forwarded_For` and the like: backends that see fields as CGI variables cannot tell `_` from `-` (case H-05).
   */
  #dropDisguised(name: string, fields: RawFields): void {
    const plain = name.toLowerCase().replaceAll('_', '-');
    if (known.RESULT_NAMES.has(plain)) fields.dropLast();
    else if (!this.trusted && known.FORWARDED_NAMES.has(plain)) fields.dropLast();
  }
}

/** Fields without which the message means something else, whatever `Connection` says (case H-05). */
const NOT_BY_NOMINATION: ReadonlySet<string> = new Set(['host', 'content-length', 'transfer-encoding', 'te']);

function dropNominated(fields: RawFields, names: readonly string[]): void {
  for (const name of names) fields.remove(name);
}

/** Digits only (RFC 9110 section 8.6), or -1. */
function lengthAt(buffer: Buffer, start: number, end: number): number {
  if (end === start || end - start > MAX_LENGTH_DIGITS) return -1;
  let length = 0;
  for (let i = start; i < end; i++) {
    const digit = (buffer[i] ?? 0) - 0x30;
    if (digit < 0 || digit > 9) return -1;
    length = length * 10 + digit;
  }
  return length;
}

/** `h2c` is never passed on: a tunnel of HTTP/2 would pass every rule by (case W-05). */
function upgradeOf(value: string): string {
  const protocol = value.toLowerCase();
  if (!/^[!#$%&'*+.^_`|~0-9a-z/-]+$/.test(protocol)) return '';
  return protocol === 'h2c' ? '' : protocol;
}
