import { X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import type { ClientTlsOptions, PeerCertificate, WireError } from '../wire.js';

export interface ExpectedIdentity {
  readonly serverName: string;
  /** When not empty, one of these must be in the certificate *instead of* `serverName`. */
  readonly subjectAltNames: readonly { readonly type: 'hostname' | 'uri'; readonly value: string }[];
}

/**
 * Whether a verified certificate belongs to who was meant (RFC 6125, GEP-1897). Only subjectAltName counts: the
 * common name is not a name. Answers the reason to refuse.
 */
export function createIdentityCheck(
  expected: ExpectedIdentity,
): (certificate: PeerCertificate) => string | undefined {
  const names = expected.subjectAltNames;
  if (names.length === 0) {
    return (certificate) =>
      hasHost(new X509Certificate(certificate.raw), expected.serverName)
        ? undefined
        : `the certificate is not valid for ${expected.serverName}`;
  }
  const wanted = names.map(({ value }) => value).join(', ');
  return (certificate) => {
    const parsed = new X509Certificate(certificate.raw);
    const uris = urisOf(certificate.subjectAltName);
    return names.some(({ type, value }) => (type === 'uri' ? uris.includes(value) : hasHost(parsed, value)))
      ? undefined
      : `the certificate has none of the subjectAltNames ${wanted}`;
  };
}

/** Why the server of a connection is not who was meant. */
export function identityRefusal(
  certificate: PeerCertificate | undefined,
  { serverName, verify }: Pick<ClientTlsOptions, 'serverName' | 'verify'>,
): WireError | undefined {
  const check = verify ?? createIdentityCheck({ serverName, subjectAltNames: [] });
  const reason = certificate === undefined ? 'the server has shown no certificate' : check(certificate);
  return reason === undefined ? undefined : { code: 'ERR_TLS_CERT_ALTNAME_INVALID', message: reason };
}

function hasHost(certificate: X509Certificate, name: string): boolean {
  if (isIP(name) !== 0) return certificate.checkIP(name) !== undefined;
  return certificate.checkHost(name, { subject: 'never', partialWildcards: false }) !== undefined;
}

/**
 * The URIs in Node's text form. Entries are read one after the other, because a name may hold `, URI:` itself:
 * Node prints such a value as a JSON string. What cannot be read to the end has no URIs at all.
 */
function urisOf(subjectAltName: string): string[] {
  const entry = /([A-Za-z ]+):("(?:[^"\\]|\\.)*"|[^",]*)(?:, |$)/y;
  const uris: string[] = [];
  while (entry.lastIndex < subjectAltName.length) {
    const match = entry.exec(subjectAltName);
    const [, type, value] = match ?? [];
    if (value === undefined) return [];
    if (type === 'URI') uris.push(value.startsWith('"') ? String(JSON.parse(value)) : value);
  }
  return uris;
}
