import { CALL_BYTES } from '../exchange/fields.js';
import { hostnameOf, type RequestHead, type ResponseHead } from '../exchange/heads.js';
import { RawFields } from './raw-fields.js';
import { TargetTexts } from './target-texts.js';

/** Most a head may measure, in bytes. */
export const MAX_HEAD_BYTES = 64 * 1024;
/** Most fields a request may have. */
export const MAX_FIELDS = 100;
/** Backends set many cookies; they are bounded all the same. */
export const MAX_RESPONSE_FIELDS = 256;

/** Store that a head keeps between requests; larger heads get one of their own. */
const KEPT_STORE_BYTES = 4096;

/**
 * A request head as received. The parser writes the public numbers; texts are made when asked for. Heads are reused by
 * the worker: {@link reset} begins a new life.
 */
export class RawRequestHead implements RequestHead {
  buffer: Buffer = EMPTY;
  start = 0;
  end = 0;
  targetStart = 0;
  targetEnd = 0;
  hostStart = 0;
  hostEnd = 0;
  minor = 1;
  method = '';
  scheme: 'http' | 'https' = 'http';
  contentLength = 0;
  chunked = false;
  /** The client closes, or does not keep, the connection after this request. */
  close = false;
  upgrade = '';
  expectContinue = false;
  acceptsTrailers = false;
  /** The client's own words about where the request came from are there (trusted peers only). */
  hasForwarded = false;
  /** Set before parsing: the peer is a trusted proxy. */
  trusted = false;
  /** Why the parser refused, for the log. */
  problem = '';
  readonly fields = new RawFields(MAX_FIELDS);
  #path: string | undefined = undefined;
  #pathChanged = false;
  #authority: string | undefined = undefined;
  #authorityChanged = false;
  #hostname: string | undefined = undefined;
  #lastHost = '';
  #lastHostname = '';
  #queryStart = -1;
  #store: Buffer | undefined = undefined;

  reset(buffer: Buffer, start: number): void {
    this.buffer = buffer;
    this.start = start;
    this.hostStart = 0;
    this.hostEnd = 0;
    this.contentLength = 0;
    this.chunked = false;
    this.close = false;
    this.upgrade = '';
    this.expectContinue = false;
    this.acceptsTrailers = false;
    this.hasForwarded = false;
    this.problem = '';
    this.fields.reset(buffer);
    this.#path = undefined;
    this.#pathChanged = false;
    this.#authority = undefined;
    this.#authorityChanged = false;
    this.#hostname = undefined;
    this.#queryStart = -1;
  }

  get protocol(): string {
    return this.minor === 1 ? '1.1' : '1.0';
  }

  get path(): string {
    return (this.#path ??= TARGETS.of(this.buffer, this.targetStart, this.targetEnd));
  }

  set path(path: string) {
    this.#path = path;
    this.#pathChanged = true;
    this.#queryStart = -1;
  }

  get queryStart(): number {
    if (this.#queryStart < 0) {
      const at = this.path.indexOf('?');
      this.#queryStart = at < 0 ? this.path.length : at;
    }
    return this.#queryStart;
  }

  get authority(): string {
    return (this.#authority ??= this.#receivedHost());
  }

  set authority(authority: string) {
    this.#authority = authority;
    this.#hostname = undefined;
    if (this.#authorityChanged) return;
    this.#authorityChanged = true;
    this.fields.dropHost();
  }

  /** Heads that follow each other mostly name the same host: no other text for it, and none to hash anew. */
  #receivedHost(): string {
    const known = this.#lastHost;
    const { buffer, hostStart, hostEnd } = this;
    let i = hostEnd - hostStart === known.length ? 0 : -1;
    while (i >= 0 && i < known.length) i = buffer[hostStart + i] === known.charCodeAt(i) ? i + 1 : -1;
    if (i < 0) {
      this.#lastHost = buffer.toString('latin1', hostStart, hostEnd);
      this.#lastHostname = hostnameOf(this.#lastHost);
    }
    return this.#lastHost;
  }

  get hostname(): string {
    const { authority } = this;
    return (this.#hostname ??= authority === this.#lastHost ? this.#lastHostname : hostnameOf(authority));
  }

  /** The target is forwarded as it came. */
  get isTargetRaw(): boolean {
    return !this.#pathChanged;
  }

  /** Writes the target as it came, which is known to fit; answers the offset behind it. */
  writeTarget(target: Buffer, offset: number): number {
    const { buffer, targetStart, targetEnd } = this;
    const length = targetEnd - targetStart;
    if (length >= CALL_BYTES) buffer.copy(target, offset, targetStart, targetEnd);
    else for (let i = 0; i < length; i++) target[offset + i] = buffer[targetStart + i] ?? 0;
    return offset + length;
  }

  /** The `Host` line is among the fields' lines. */
  get isHostRaw(): boolean {
    return !this.#authorityChanged && this.hostEnd > 0;
  }

  retain(): void {
    const length = this.end - this.start;
    let store = this.#store;
    if (this.buffer === store) return;
    if (!store || store.length < length) {
      store = Buffer.allocUnsafeSlow(length <= KEPT_STORE_BYTES ? KEPT_STORE_BYTES : length);
      if (length <= KEPT_STORE_BYTES) this.#store = store;
    }
    this.buffer.copy(store, 0, this.start, this.end);
    const shift = -this.start;
    this.fields.moveTo(store, shift);
    this.targetStart += shift;
    this.targetEnd += shift;
    this.hostStart += shift;
    this.hostEnd += shift;
    this.start = 0;
    this.end = length;
    this.buffer = store;
  }
}

/** A response head as received: a view that is valid while the call it is passed to lasts. */
export class RawResponseHead implements ResponseHead {
  status = 0;
  minor = 1;
  contentLength = -1;
  chunked = false;
  close = false;
  /** Connection option `upgrade`, needed with 101. */
  upgrade = false;
  /** Seconds of `Keep-Alive: timeout=`, or 0. */
  keepAliveSeconds = 0;
  problem = '';
  readonly shared = undefined;
  readonly fields = new RawFields(MAX_RESPONSE_FIELDS);

  reset(buffer: Buffer): void {
    this.contentLength = -1;
    this.chunked = false;
    this.close = false;
    this.upgrade = false;
    this.keepAliveSeconds = 0;
    this.problem = '';
    this.fields.reset(buffer);
  }

  get protocol(): string {
    return this.minor === 1 ? '1.1' : '1.0';
  }
}

const EMPTY = Buffer.alloc(0);
/** Of all requests of the thread. */
const TARGETS = new TargetTexts();
