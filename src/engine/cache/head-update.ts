import type { ResponseHead } from '../exchange/heads.js';
import type { CacheRequest } from './cache-request.js';
import { renewedResponse, type RenewalTimes } from './renewed-response.js';
import type { StoredResponse } from './stored-response.js';

/** The answer to a HEAD renews a stored GET, or shows that it is outdated (RFC 9111 §4.3.5). */
export function updateByHead(
  request: CacheRequest,
  stored: StoredResponse,
  { head, ...times }: RenewalTimes & { readonly head: ResponseHead },
): void {
  if (head.status !== 200 || stored.status !== 200) return;
  const { fields, contentLength } = head;
  const isSame =
    fields.get('etag') === stored.etag &&
    fields.get('last-modified') === stored.lastModified &&
    (contentLength < 0 || contentLength === stored.length);
  const { store } = request;
  if (!isSame) {
    store.remove(stored);
    return;
  }
  const { response, isWithdrawn } = renewedResponse(request, stored, fields, times);
  if (isWithdrawn) store.remove(stored);
  else store.replace(stored, response);
}
