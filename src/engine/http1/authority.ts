import { AUTHORITY } from './characters.js';

/**
 * Whether text is `host` or `host:port` (RFC 3986 section 3.2.2) without user information. Anything else in `Host` is
 * read differently by different servers.
 */
export function isAuthority(text: string): boolean {
  let at = 0;
  if (text.charCodeAt(0) === 0x5b) {
    at = text.indexOf(']') + 1;
    if (at < 4 || !/^\[[0-9a-fA-F:.]+\]$/.test(text.slice(0, at))) return false;
  } else {
    while (at < text.length && AUTHORITY[text.charCodeAt(at)] === 1) at++;
    if (at === 0) return false;
  }
  if (at === text.length) return true;
  return /^:\d{0,5}$/.test(text.slice(at));
}
