import { FieldList, type Fields } from '../exchange/fields.js';
import type { CacheRequest } from './cache-request.js';
import { updatedFields } from './describe-response.js';
import { assess, dateOf, initialAge } from './storability.js';
import type { StoredResponse } from './stored-response.js';

interface Renewal {
  readonly response: StoredResponse;
  /** The origin no longer allows it to be stored. */
  readonly isWithdrawn: boolean;
}

export interface RenewalTimes {
  readonly requestedAtMs: number;
  readonly receivedAtMs: number;
}

/** A stored response after a 304 or HEAD said that it is current (RFC 9111 §4.3.4, §4.3.5). */
export function renewedResponse(
  { authorized, plan }: CacheRequest,
  stored: StoredResponse,
  answer: Fields,
  { requestedAtMs, receivedAtMs }: RenewalTimes,
): Renewal {
  const fields = new FieldList(updatedFields(stored, answer));
  const storability = assess({ status: stored.status, fields, receivedAtMs }, authorized, plan.rules);
  const isWithdrawn = 'refusal' in storability;
  const response: StoredResponse = {
    ...stored,
    terms: isWithdrawn ? stored.terms : storability,
    fields: fields.toFlat(),
    ageAtArrivalMs: initialAge(answer, requestedAtMs, receivedAtMs),
    arrivedAtMs: receivedAtMs,
    dateMs: dateOf(fields, receivedAtMs),
    etag: fields.get('etag'),
    lastModified: fields.get('last-modified'),
  };
  return { response, isWithdrawn };
}
