/**
 * Hostnames of listeners and routes: `''` is any, `a.example.com` exact, `*.example.com` any number of labels to
 * the left of the suffix but not the suffix itself. All are lower case.
 */

export function normalizeHostname(hostname: string | undefined): string {
  return hostname === undefined || hostname === '*' ? '' : hostname.toLowerCase();
}

/** The hostname that exactly those hosts match which match both; undefined when there is none. */
export function intersectHostnames(a: string, b: string): string | undefined {
  if (coversHostname(a, b)) return b;
  return coversHostname(b, a) ? a : undefined;
}

/** Whether every host that `inner` matches is matched by `outer` too. */
export function coversHostname(outer: string, inner: string): boolean {
  if (outer === '' || outer === inner) return true;
  if (!outer.startsWith('*.')) return false;
  // The suffix with its dot: the apex is not matched, and a wildcard covers the wildcards below it.
  return inner.length > outer.length - 1 && inner.endsWith(outer.slice(1));
}

/** A hostname and all that cover it, most specific first: `a.b.c`, `*.b.c`, `*.c`, `''`. */
export function hostnameChain(hostname: string): readonly string[] {
  const chain: string[] = [];
  if (hostname !== '') chain.push(hostname);
  let rest = hostname.startsWith('*.') ? hostname.slice(2) : hostname;
  for (let dot = rest.indexOf('.'); dot !== -1; dot = rest.indexOf('.')) {
    rest = rest.slice(dot + 1);
    chain.push(`*.${rest}`);
  }
  chain.push('');
  return chain;
}

/** Text for messages and keys: `*` for any. */
export function printHostname(hostname: string): string {
  return hostname === '' ? '*' : hostname;
}
