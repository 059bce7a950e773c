import { hostnameOf } from '../exchange/heads.js';
import { isAuthority } from '../http1/authority.js';
import { TARGET, TOKEN } from '../http1/characters.js';
import { FORWARDED_NAMES, NEVER_FORWARDED_NAMES, RESULT_NAMES } from '../http1/known-fields.js';
import { normalisePath } from '../http1/normalise-path.js';
import { isConnectionSpecific, parseContentLength } from './field-rules.js';

/** The request is malformed (RFC 9113 §8.1.1): the stream is reset with PROTOCOL_ERROR. */
export const MALFORMED = 0;
const BAD_REQUEST = 400;
const NOT_IMPLEMENTED = 501;

/** A request as its header block says: what is the same for every request with an equal block. */
export interface RequestTemplate {
  readonly method: string;
  readonly authority: string;
  /** See {@link hostnameOf}. */
  readonly hostname: string;
  readonly path: string;
  /** -1: not given. */
  readonly contentLength: number;
  /** RFC 8441: the `:protocol` of an extended CONNECT, or `''`. */
  readonly upgrade: string;
  readonly expectContinue: boolean;
  readonly acceptsTrailers: boolean;
  /** name, value, …: what is forwarded. */
  readonly fields: string[];
}

interface Draft {
  method: string | undefined;
  scheme: string | undefined;
  path: string | undefined;
  authority: string | undefined;
  protocol: string | undefined;
  host: string | undefined;
  contentLength: number;
  expectContinue: boolean;
  acceptsTrailers: boolean;
  cookies: string;
  readonly fields: string[];
}

/**
 * Checks a decoded header block as RFC 9113 §8 and RFC 8441 ask and takes it apart.
 * @param fields name, value, … as decoded; names are known to be in lower case.
 * @param trusted the peer may say where the request came from.
 * @returns the template, {@link MALFORMED}, or the status to refuse with.
 */
export function readRequest(fields: readonly string[], trusted: boolean): RequestTemplate | number {
  const draft: Draft = {
    method: undefined,
    scheme: undefined,
    path: undefined,
    authority: undefined,
    protocol: undefined,
    host: undefined,
    contentLength: -1,
    expectContinue: false,
    acceptsTrailers: false,
    cookies: '',
    fields: [],
  };
  let at = 0;
  for (; at + 1 < fields.length; at += 2) {
    const name = fields[at] ?? '';
    if (name.charCodeAt(0) !== 0x3a) break;
    if (!takePseudoField(draft, name, fields[at + 1] ?? '')) return MALFORMED;
  }
  for (; at + 1 < fields.length; at += 2) {
    if (!takeField(draft, fields[at] ?? '', fields[at + 1] ?? '', trusted)) return MALFORMED;
  }
  if (draft.cookies !== '') draft.fields.push('cookie', draft.cookies);
  return finish(draft);
}

/** RFC 9113 §8.3: each at most once, none that is not defined. */
function takePseudoField(draft: Draft, name: string, value: string): boolean {
  switch (name) {
    case ':method':
      if (draft.method !== undefined) return false;
      draft.method = value;
      return true;
    case ':path':
      if (draft.path !== undefined) return false;
      draft.path = value;
      return true;
    case ':scheme':
      if (draft.scheme !== undefined) return false;
      draft.scheme = value;
      return true;
    case ':authority':
      if (draft.authority !== undefined) return false;
      draft.authority = value;
      return true;
    case ':protocol':
      if (draft.protocol !== undefined) return false;
      draft.protocol = value;
      return true;
    default:
      return false;
  }
}

function takeField(draft: Draft, name: string, value: string, trusted: boolean): boolean {
  switch (name) {
    case 'host':
      if (draft.host !== undefined) return false;
      draft.host = value;
      return true;
    case 'te':
      // RFC 9113 §8.2.2: nothing but `trailers`.
      draft.acceptsTrailers = value.toLowerCase() === 'trailers';
      return draft.acceptsTrailers;
    case 'cookie':
      // RFC 9113 §8.2.3: crumbs become one field again before they leave HTTP/2.
      draft.cookies = draft.cookies === '' ? value : `${draft.cookies}; ${value}`;
      return true;
    case 'content-length':
      if (draft.contentLength >= 0) return false;
      draft.contentLength = parseContentLength(value);
      if (draft.contentLength < 0) return false;
      break;
    case 'expect':
      if (value.toLowerCase() === '100-continue') {
        draft.expectContinue = true;
        return true;
      }
      break;
    default:
      // Pseudo-header fields after others are malformed (RFC 9113 §8.3).
      if (name.charCodeAt(0) === 0x3a || isConnectionSpecific(name)) return false;
      if (NEVER_FORWARDED_NAMES.has(name) || RESULT_NAMES.has(name)) return true;
      if (!trusted && FORWARDED_NAMES.has(name)) return true;
  }
  draft.fields.push(name, value);
  return true;
}

function finish(draft: Draft): RequestTemplate | number {
  const { method, scheme, path, protocol, host } = draft;
  if (method === undefined || !isToken(method)) return MALFORMED;
  if (draft.authority === '') return MALFORMED;
  const authority = draft.authority ?? host;
  const extended = protocol !== undefined;
  if (method === 'CONNECT' && !extended) {
    // RFC 9113 §8.5: neither scheme nor path. A reverse proxy opens no tunnels to where a client wants.
    return scheme === undefined && path === undefined && draft.authority !== undefined
      ? NOT_IMPLEMENTED
      : MALFORMED;
  }
  // RFC 8441 §4: `:protocol` is for CONNECT only.
  if (extended && method !== 'CONNECT') return MALFORMED;
  if (scheme === undefined || path === undefined || path === '') return MALFORMED;
  if (scheme !== 'http' && scheme !== 'https') return BAD_REQUEST;
  const target = readTarget(path, method);
  if (typeof target === 'number') return target;
  // RFC 9113 §8.3.1: Host may repeat the authority and must not contradict it.
  if (
    host !== undefined &&
    draft.authority !== undefined &&
    host.toLowerCase() !== draft.authority.toLowerCase()
  ) {
    return MALFORMED;
  }
  if (authority === undefined || !isAuthority(authority)) return BAD_REQUEST;
  if (extended && protocol !== 'websocket') return NOT_IMPLEMENTED;
  return {
    method: extended ? 'GET' : method,
    authority,
    hostname: hostnameOf(authority),
    path: target,
    contentLength: draft.contentLength,
    upgrade: protocol ?? '',
    expectContinue: draft.expectContinue,
    acceptsTrailers: draft.acceptsTrailers,
    fields: draft.fields,
  };
}

/** RFC 9113 §8.3.1: origin form, or `*` with OPTIONS. @returns the one form that is matched and forwarded. */
function readTarget(path: string, method: string): string | number {
  if (path.charCodeAt(0) !== 0x2f) return path === '*' && method === 'OPTIONS' ? path : MALFORMED;
  let needsWork = false;
  for (let i = 0; i < path.length; i++) {
    const kind = TARGET[path.charCodeAt(i)] ?? 0;
    if (kind === 0 || kind === 8) return BAD_REQUEST;
    if (kind > 1) needsWork = true;
  }
  if (!needsWork) return path;
  const normalised = normalisePath(path);
  return 'path' in normalised ? normalised.path : BAD_REQUEST;
}

function isToken(text: string): boolean {
  for (let i = 0; i < text.length; i++) if ((TOKEN[text.charCodeAt(i)] ?? 0) === 0) return false;
  return text.length > 0;
}
