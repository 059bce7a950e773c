/** Whether an `Origin` is one of the configured ones. */
export type OriginTest = (origin: string) => boolean;

/** `*`, `https://a.test`, `https://*.a.test:8443` (any number of labels); scheme and port are compared as well. */
export function compileOrigins(patterns: readonly string[]): OriginTest {
  if (patterns.includes('*')) return () => true;
  const exact = new Set<string>();
  const wildcards: OriginTest[] = [];
  for (const pattern of patterns) {
    const { scheme, host, port } = parseOrigin(pattern);
    if (host.startsWith('*.')) wildcards.push(wildcardTest(`${scheme}://`, `${host.slice(1)}${port}`));
    else exact.add(`${scheme}://${host}${port}`);
  }
  return (origin) => {
    const serialized = origin.toLowerCase();
    return exact.has(serialized) || wildcards.some((test) => test(serialized));
  };
}

function wildcardTest(start: string, end: string): OriginTest {
  return (origin) =>
    origin.startsWith(start) &&
    origin.endsWith(end) &&
    // At least one label, and nothing that an origin's host cannot hold.
    /^[^./:@]+(\.[^./:@]+)*$/.test(origin.slice(start.length, -end.length));
}

interface OriginParts {
  readonly scheme: string;
  readonly host: string;
  /** `:8443`, or `''` for the default port: browsers leave it out (RFC 6454 §6.2). */
  readonly port: string;
}

function parseOrigin(pattern: string): OriginParts {
  const [scheme = '', rest = ''] = pattern.toLowerCase().split('://', 2);
  const [, host = rest, port = ''] = /^(.*?)(:\d+)?$/.exec(rest) ?? [];
  const isDefault = (scheme === 'http' && port === ':80') || (scheme === 'https' && port === ':443');
  return { scheme, host, port: isDefault ? '' : port };
}
