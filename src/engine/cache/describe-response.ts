import type { Fields } from '../exchange/fields.js';
import { dateOf, initialAge, type StoringTerms } from './storability.js';
import type { StoredResponse } from './stored-response.js';
import { selectorsOf } from './vary.js';

/** A response that arrived and may be stored. */
interface Arrival {
  readonly key: string;
  readonly uri: string;
  readonly status: number;
  readonly terms: StoringTerms;
  readonly requestFields: Fields;
  readonly requestedAtMs: number;
  readonly receivedAtMs: number;
}

/**
 * Made again for each answer, meant for one connection or one client (RFC 9111 §3.1), or for the hop before us.
 */
const NEVER_STORED: ReadonlySet<string> = new Set([
  'age',
  'content-length',
  'proxy-authenticate',
  'proxy-authentication-info',
  'proxy-authorization',
  'x-trickster-result',
]);

/** What is stored of a response; its length is known when its body has ended. */
export function describeResponse(fields: Fields, arrival: Arrival): Omit<StoredResponse, 'length'> {
  const { key, uri, status, terms, requestFields, requestedAtMs, receivedAtMs } = arrival;
  return {
    key,
    uri,
    status,
    terms,
    fields: storedFields(fields, terms.withheld),
    ageAtArrivalMs: initialAge(fields, requestedAtMs, receivedAtMs),
    arrivedAtMs: receivedAtMs,
    dateMs: dateOf(fields, receivedAtMs),
    etag: fields.get('etag'),
    lastModified: fields.get('last-modified'),
    selectors: selectorsOf(fields.getAll('vary'), requestFields),
  };
}

function storedFields(fields: Fields, withheld: readonly string[]): string[] {
  const flat: string[] = [];
  fields.forEach((name, value) => {
    if (!NEVER_STORED.has(name) && !withheld.includes(name)) flat.push(name, value);
  });
  return flat;
}

/** A 304 describes the body that is stored already: these would describe another (RFC 9111 §3.2). */
const KEPT_BY_304: ReadonlySet<string> = new Set([
  'content-encoding',
  'content-length',
  'content-range',
  'content-type',
  'set-cookie',
]);

/** The stored fields with those of a 304 in place of their namesakes (RFC 9111 §4.3.4). */
export function updatedFields(stored: StoredResponse, notModified: Fields): string[] {
  const names = new Set<string>();
  const added: string[] = [];
  notModified.forEach((name, value) => {
    if (KEPT_BY_304.has(name)) return;
    names.add(name);
    added.push(name, value);
  });
  const flat: string[] = [];
  for (let i = 0; i + 1 < stored.fields.length; i += 2) {
    const name = stored.fields[i] ?? '';
    if (!names.has(name)) flat.push(name, stored.fields[i + 1] ?? '');
  }
  return [...flat, ...added];
}
