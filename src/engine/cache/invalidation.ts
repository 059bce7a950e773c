import type { Fields } from '../exchange/fields.js';

/**
 * URIs that a successful unsafe request makes invalid: its own, and those of Location and Content-Location on the
 * same origin (RFC 9111 §4.4: another origin's must not be touched).
 */
export function invalidatedUris(uri: string, response: Fields): readonly string[] {
  const base = URL.parse(uri);
  if (!base) return [uri];
  const named = ['location', 'content-location'].flatMap((name) => response.getAll(name));
  const others = named.flatMap((reference) => {
    const target = URL.parse(reference, uri);
    return target?.origin === base.origin ? [asStored(target, uri)] : [];
  });
  return [uri, ...others];
}

/** With the authority as this client wrote it: a stored URI keeps a default port that was given. */
function asStored({ pathname, search }: URL, uri: string): string {
  const pathAt = uri.indexOf('/', uri.indexOf('://') + 3);
  return (pathAt < 0 ? uri : uri.slice(0, pathAt)) + pathname + search;
}
