/** Words of `X-Trickster-Result`, in Trickster's meaning. */
export type ResultStatus = 'hit' | 'rhit' | 'kmiss' | 'nchit' | 'proxy-hit' | 'proxy-only';

/** What a client is told of how its answer was made. */
export interface CacheResult {
  readonly status: ResultStatus;
  /** Parameters of our member of `Cache-Status` (RFC 9211 §2): `hit; ttl=5`, `fwd=uri-miss; stored`. */
  readonly cacheStatus: string;
}

const CACHE_NAME = 'trickster-gateway';

/** `flat` is name, value, …: our member comes after those of the caches before us (RFC 9211 §2). */
export function resultFields(
  { status, cacheStatus }: CacheResult,
  resultHeader: 'expose' | 'hide',
): string[] {
  const flat = ['cache-status', `${CACHE_NAME}; ${cacheStatus}`];
  if (resultHeader === 'expose') {
    const engine = status === 'proxy-only' ? 'HTTPProxy' : 'ObjectProxyCache';
    flat.push('x-trickster-result', `engine=${engine}; status=${status}`);
  }
  return flat;
}
