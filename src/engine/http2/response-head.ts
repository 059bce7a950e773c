import { NEVER_FORWARDED_NAMES } from '../http1/known-fields.js';
import { isConnectionSpecific, parseContentLength } from './field-rules.js';

/** A response as its header block says: what is the same for every response with an equal block. */
export interface ResponseTemplate {
  readonly status: number;
  /** -1: not given. */
  readonly contentLength: number;
  /** name, value, …: what is forwarded. */
  readonly fields: string[];
}

/** Checks a decoded header block as RFC 9113 §8 asks. @returns undefined when the response is malformed. */
export function readResponse(fields: readonly string[]): ResponseTemplate | undefined {
  if (fields[0] !== ':status') return undefined;
  const status = readStatus(fields[1] ?? '');
  // RFC 9113 §8.6: there is no 101 in HTTP/2.
  if (status === 0 || status === 101) return undefined;
  const kept: string[] = [];
  let contentLength = -1;
  for (let i = 2; i + 1 < fields.length; i += 2) {
    const name = fields[i] ?? '';
    const value = fields[i + 1] ?? '';
    if (name.charCodeAt(0) === 0x3a || isConnectionSpecific(name)) return undefined;
    if (name === 'content-length') {
      if (contentLength >= 0) return undefined;
      contentLength = parseContentLength(value);
      if (contentLength < 0) return undefined;
    }
    if (!NEVER_FORWARDED_NAMES.has(name)) kept.push(name, value);
  }
  return { status, contentLength, fields: kept };
}

function readStatus(text: string): number {
  if (text.length !== 3) return 0;
  const status = parseContentLength(text);
  return status >= 100 ? status : 0;
}
