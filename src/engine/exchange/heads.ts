import { FieldList, type Fields } from './fields.js';

/**
 * The head of a request, as routing, filters, cache and upstream codecs see it.
 *
 * An upgrade has one form whatever carried it: `method` is `GET`, `upgrade` names the protocol and the fields
 * that carry it are gone (RFC 8441 extended CONNECT is translated by the HTTP/2 codecs, `Connection`/`Upgrade` by
 * the HTTP/1.1 ones); success is status 101.
 *
 * A head is valid until its exchange ends; whoever needs it longer takes {@link PlainRequestHead.of} it.
 */
export interface RequestHead {
  /** Case matters; `GET`, `POST`, … */
  method: string;
  scheme: 'http' | 'https';
  /** `host` or `host:port` as received; it is forwarded so. Setting it changes `Host` or `:authority` upstream. */
  authority: string;
  /**
   * Normalised path and query in origin form, or `*`. Matching and forwarding use this one form. Setting it
   * changes what is forwarded.
   */
  path: string;
  /** Index of `?` in `path`, or the path's length. */
  readonly queryStart: number;
  /** `authority` without port, in lower case, without a trailing dot; IPv6 in brackets. */
  readonly hostname: string;
  readonly fields: Fields;
  /** Bytes of the body; 0: none follows. -1: unknown until it ends. */
  readonly contentLength: number;
  /** `1.0`, `1.1` or `2.0`: what the client spoke. */
  readonly protocol: string;
  /** `''`, or the protocol asked for, in lower case (`websocket`). */
  readonly upgrade: string;
  /** The client waits for `100 Continue` before it sends the body. */
  readonly expectContinue: boolean;
  /** The client said `te: trailers`. */
  readonly acceptsTrailers: boolean;
  /** Makes the head independent of the buffer that it was read from. Codecs do it before they read again. */
  retain(): void;
}

/** The head of a response. Interim responses (1xx) are heads too. */
export interface ResponseHead {
  status: number;
  readonly fields: Fields;
  /** Bytes of the body if one were sent (HEAD, 304); -1: unknown until it ends. */
  readonly contentLength: number;
  /** What the server spoke; our own answers say `1.1`. */
  readonly protocol: string;
  /** Set when other exchanges send the same head: what codecs keep of it. */
  readonly shared: SharedForm | undefined;
}

export interface RequestHeadInit {
  readonly method: string;
  readonly scheme: 'http' | 'https';
  readonly authority: string;
  /** Of the authority, where it is known already. */
  readonly hostname?: string;
  readonly path: string;
  readonly fields?: Fields;
  readonly contentLength?: number;
  readonly protocol?: string;
  readonly upgrade?: string;
  readonly expectContinue?: boolean;
  readonly acceptsTrailers?: boolean;
}

/** A request head of strings: HTTP/2, mirrors, requests of the gateway itself. */
export class PlainRequestHead implements RequestHead {
  method: string;
  scheme: 'http' | 'https';
  path: string;
  readonly fields: Fields;
  contentLength: number;
  readonly protocol: string;
  readonly upgrade: string;
  readonly expectContinue: boolean;
  readonly acceptsTrailers: boolean;
  #authority: string;
  #hostname: string | undefined;

  constructor(init: RequestHeadInit) {
    this.method = init.method;
    this.scheme = init.scheme;
    this.path = init.path;
    this.fields = init.fields ?? new FieldList();
    this.contentLength = init.contentLength ?? 0;
    this.protocol = init.protocol ?? '1.1';
    this.upgrade = init.upgrade ?? '';
    this.expectContinue = init.expectContinue ?? false;
    this.acceptsTrailers = init.acceptsTrailers ?? false;
    this.#authority = init.authority;
    this.#hostname = init.hostname;
  }

  /** An independent, changeable copy that outlives the exchange. */
  static of(head: RequestHead): PlainRequestHead {
    return new PlainRequestHead({
      method: head.method,
      scheme: head.scheme,
      authority: head.authority,
      path: head.path,
      fields: head.fields.toList(),
      contentLength: head.contentLength,
      protocol: head.protocol,
      upgrade: head.upgrade,
      expectContinue: head.expectContinue,
      acceptsTrailers: head.acceptsTrailers,
    });
  }

  get authority(): string {
    return this.#authority;
  }

  set authority(authority: string) {
    this.#authority = authority;
    this.#hostname = undefined;
  }

  get hostname(): string {
    return (this.#hostname ??= hostnameOf(this.#authority));
  }

  get queryStart(): number {
    const at = this.path.indexOf('?');
    return at < 0 ? this.path.length : at;
  }

  retain(): void {
    // Strings are independent already.
  }
}

/** What a codec has made of a response, for the next who sends it. */
class SharedForm {
  /** The whole of it as HTTP/1.1 has it on a connection that stays open. */
  http1: Buffer | undefined = undefined;
}

/** A response head of strings: HTTP/2 upstreams, cache, answers of the gateway itself. */
export class PlainResponseHead implements ResponseHead {
  readonly shared: SharedForm | undefined = undefined;

  constructor(
    public status: number,
    readonly fields: Fields = new FieldList(),
    readonly contentLength = -1,
    readonly protocol = '1.1',
  ) {}

  /** An independent copy with fields that may be changed. */
  static of(head: ResponseHead): PlainResponseHead {
    return new PlainResponseHead(head.status, head.fields.toList(), head.contentLength, head.protocol);
  }
}

/**
 * The head of a response with a body that many requests get as it is: never changed, complete with what the gateway adds,
 * and sent with the whole body or, to HEAD, with none.
 */
export class SharedResponseHead extends PlainResponseHead {
  override readonly shared = new SharedForm();
}

/** `Example.com.:8080` → `example.com`, `[::1]:80` → `[::1]`. */
export function hostnameOf(authority: string): string {
  let end = authority.length;
  const colon = authority.lastIndexOf(':');
  if (colon >= 0 && !authority.includes(']', colon)) end = colon;
  if (end > 1 && authority.charCodeAt(end - 1) === 0x2e) end--;
  return (end === authority.length ? authority : authority.slice(0, end)).toLowerCase();
}
