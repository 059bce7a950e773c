import type { Fields } from '../exchange/fields.js';
import type { ResponseHead } from '../exchange/heads.js';
import { parseHttpDate } from './http-date.js';

/** What a request's conditions are compared with. */
interface Validators {
  readonly etag: string | undefined;
  readonly lastModified: string | undefined;
  /** Date of the response, in ms. */
  readonly dateMs: number;
}

/** Whether a GET or HEAD is answered 304 (RFC 9110 §13.2.2, RFC 9111 §4.3.2). */
export function isNotModified(request: Fields, validators: Validators, nowMs: number): boolean {
  if (request.has('if-none-match')) {
    const condition = request.getAll('if-none-match').join(',');
    if (condition.trim() === '*') return true;
    return validators.etag !== undefined && entityTagsOf(condition).has(opaque(validators.etag));
  }
  const since = request.get('if-modified-since');
  if (since === undefined) return false;
  const sinceMs = parseHttpDate(since, nowMs);
  if (sinceMs === undefined) return false;
  const { lastModified, dateMs } = validators;
  const modifiedMs = lastModified === undefined ? dateMs : parseHttpDate(lastModified, nowMs);
  return modifiedMs !== undefined && modifiedMs <= sinceMs;
}

/** Not in a 304: they would describe a body that is not sent (RFC 9110 §15.4.5). */
export const REPRESENTATION_FIELDS: ReadonlySet<string> = new Set([
  'content-encoding',
  'content-language',
  'content-length',
  'content-range',
  'content-type',
]);

/** Makes the head of a 200 that of a 304; a body that follows is dropped by the codec. */
export function toNotModified(head: ResponseHead): void {
  head.status = 304;
  for (const name of REPRESENTATION_FIELDS) head.fields.remove(name);
}

/** Whether a Range still applies (RFC 9110 §13.1.5: strong comparison only). */
export function isRangeCurrent(
  ifRange: string,
  { etag, lastModified, dateMs }: Validators,
  nowMs: number,
): boolean {
  if (ifRange.startsWith('"')) return ifRange === etag;
  if (ifRange.startsWith('W/')) return false;
  if (lastModified === undefined || ifRange !== lastModified) return false;
  // §8.8.2.2: a date is strong once a second has passed over it.
  const modifiedMs = parseHttpDate(lastModified, nowMs);
  return modifiedMs !== undefined && dateMs - modifiedMs >= 1000;
}

/** Opaque parts: If-None-Match compares weakly (RFC 9110 §8.8.3.2). */
function entityTagsOf(list: string): ReadonlySet<string> {
  return new Set(Array.from(list.matchAll(/(?:W\/)?("[^"]*")/g), ([, tag = '']) => tag));
}

function opaque(etag: string): string {
  return etag.startsWith('W/') ? etag.slice(2) : etag;
}
