const UPPER_A = 65;
const UPPER_Z = 90;
const COLON = 58;
const DOT = 46;

/**
 * The hostname of a Host field, `:authority` or SNI in the form that tables are keyed by: lower case, without
 * port and without the dot of the root (Gateway API `Hostname`; RFC 9110 §4.2.3). Costs no allocation when it
 * already has that form.
 */
export function normalizeHost(authority: string): string {
  const { length } = authority;
  for (let i = 0; i < length; i++) {
    const code = authority.charCodeAt(i);
    if (code === COLON || (code >= UPPER_A && code <= UPPER_Z)) return rewriteHost(authority);
  }
  return authority.charCodeAt(length - 1) === DOT ? authority.slice(0, -1) : authority;
}

function rewriteHost(authority: string): string {
  const host = withoutPort(authority).toLowerCase();
  return host.endsWith('.') ? host.slice(0, -1) : host;
}

/** `a.test:80` → `a.test`, `[::1]:80` → `[::1]`. */
function withoutPort(authority: string): string {
  if (authority.startsWith('[')) {
    const end = authority.indexOf(']');
    return end < 0 ? authority : authority.slice(0, end + 1);
  }
  const colon = authority.indexOf(':');
  return colon < 0 ? authority : authority.slice(0, colon);
}
