/** RFC 7541 appendix A; entry `i` of the table is name `[2i]` and value `[2i + 1]`. Index 0 is not used. */
export const STATIC_FIELDS: readonly string[] = (
  '|:authority|:method GET|:method POST|:path /|:path /index.html|:scheme http|:scheme https|:status 200|' +
  ':status 204|:status 206|:status 304|:status 400|:status 404|:status 500|accept-charset|' +
  'accept-encoding gzip, deflate|accept-language|accept-ranges|accept|access-control-allow-origin|age|allow|' +
  'authorization|cache-control|content-disposition|content-encoding|content-language|content-length|' +
  'content-location|content-range|content-type|cookie|date|etag|expect|expires|from|host|if-match|' +
  'if-modified-since|if-none-match|if-range|if-unmodified-since|last-modified|link|location|max-forwards|' +
  'proxy-authenticate|proxy-authorization|range|referer|refresh|retry-after|server|set-cookie|' +
  'strict-transport-security|transfer-encoding|user-agent|vary|via|www-authenticate'
)
  .split('|')
  .flatMap((entry) => {
    const space = entry.indexOf(' ');
    return space < 0 ? [entry, ''] : [entry.slice(0, space), entry.slice(space + 1)];
  });

/** Entries of the static table; the first entry of the dynamic table has the next index. */
export const STATIC_LENGTH = 61;
/** RFC 7541 §4.1: what an entry costs beyond its name and value. */
export const ENTRY_OVERHEAD = 32;
