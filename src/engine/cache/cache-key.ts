import type { Exchange } from '../exchange/exchange.js';
import type { Fields } from '../exchange/fields.js';
import { type CachePlan, keyPart } from './cache-plan.js';

/**
 * The key of what answers a GET: who it belongs to, the listener, the URL as the client asked for it, the path as it
 * is forwarded when a filter changed it, and what the policy adds. Every part has its length before it.
 */
export function cacheKeyOf(plan: CachePlan, exchange: Exchange): string {
  const { request, originalPath } = exchange;
  const { keyParams, keyHeaders } = plan.policy;
  let key = plan.keyBeginning.of(exchange);
  if (!keyParams || keyParams.includes('*')) key += keyPart(originalPath);
  else key += chosenQuery(originalPath, keyParams);
  if (request.path !== originalPath) key += keyPart(request.path.slice(0, request.queryStart));
  for (const name of keyHeaders) key += headerPart(request.fields, name);
  return key;
}

/** What invalidation names: the target URI of the client's request. */
export function cacheUriOf({ context, originalAuthority, originalPath }: Exchange): string {
  return `${context.secure ? 'https' : 'http'}://${originalAuthority.toLowerCase()}${originalPath}`;
}

function chosenQuery(path: string, names: readonly string[]): string {
  const at = path.indexOf('?');
  const queryAt = at < 0 ? path.length : at;
  return keyPart(path.slice(0, queryAt)) + keyPart(chosenParams(path, queryAt, names));
}

/** Each chosen parameter with all its values as they were sent; the request's order of names does not matter. */
function chosenParams(path: string, queryAt: number, names: readonly string[]): string {
  const pairs = path.slice(queryAt + 1).split('&');
  return names
    .map((name) => pairs.filter((pair) => pair === name || pair.startsWith(`${name}=`)))
    .flat()
    .map(keyPart)
    .join('');
}

/** Absent and empty are told apart. */
function headerPart(fields: Fields, name: string): string {
  return fields.has(name) ? `h${keyPart(fields.getAll(name).join(','))}` : 'a';
}
