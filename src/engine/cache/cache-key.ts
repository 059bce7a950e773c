import type { Exchange } from '../exchange/exchange.js';
import type { Fields } from '../exchange/fields.js';
import { type CachePlan, keyPart } from './cache-plan.js';

/**
 * The key of what answers a GET: who it belongs to, the listener, the URL as the client asked for it, the path as it
 * is forwarded when a filter changed it, and what the policy adds. Every part has its length before it.
 */
export function cacheKeyOf(plan: CachePlan, exchange: Exchange): string {
  const { request, originalPath, context } = exchange;
  const { keyParams, keyHeaders } = plan.policy;
  const queryAt = queryStartOf(originalPath);
  let key = plan.keyPrefix + keyPart(context.listener) + keyPart(request.scheme) + keyPart(hostOf(exchange));
  key += keyPart(originalPath.slice(0, queryAt));
  key += keyPart(
    keyParams && !keyParams.includes('*')
      ? chosenParams(originalPath, queryAt, keyParams)
      : originalPath.slice(queryAt),
  );
  if (request.path !== originalPath) key += keyPart(request.path.slice(0, request.queryStart));
  for (const name of keyHeaders) key += headerPart(request.fields, name);
  return key;
}

/** What invalidation names: the target URI of the client's request. */
export function cacheUriOf(exchange: Exchange): string {
  return `${exchange.request.scheme}://${hostOf(exchange)}${exchange.originalPath}`;
}

/** The client's authority; lower case, so that it names one thing once. */
function hostOf({ originalAuthority }: Exchange): string {
  return originalAuthority.toLowerCase();
}

function queryStartOf(path: string): number {
  const at = path.indexOf('?');
  return at < 0 ? path.length : at;
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
