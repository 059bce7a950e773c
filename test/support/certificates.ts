import { X509Certificate } from 'node:crypto';

import {
  issueCertificate,
  type CertificateRequest,
  type IssuedCertificate,
} from '../../src/util/issue-certificate.js';

export type { IssuedCertificate } from '../../src/util/issue-certificate.js';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

type Details = Partial<Omit<CertificateRequest, 'usage'>>;

/** A CA for tests. Everything it issues is valid from an hour ago until tomorrow, unless said otherwise. */
export class TestAuthority {
  readonly self: IssuedCertificate;

  constructor(commonName = 'Test CA', details: Details = {}) {
    this.self = issueCertificate({ ...validity(), commonName, ...details, usage: 'authority' });
  }

  /** The CA's certificate, PEM. */
  get certificate(): string {
    return this.self.certificate;
  }

  /** A server certificate; the first name is also the common name. */
  server(dnsNames: readonly string[], details: Details = {}): IssuedCertificate {
    const commonName = dnsNames[0] ?? 'server';
    return issueCertificate({ ...validity(), commonName, dnsNames, ...details, usage: 'server' }, this.self);
  }

  client(commonName: string, details: Details = {}): IssuedCertificate {
    return issueCertificate({ ...validity(), commonName, ...details, usage: 'client' }, this.self);
  }
}

/** A self-signed server certificate, as for a listener whose issuer does not matter. */
export function selfSigned(dnsNames: readonly string[], details: Details = {}): IssuedCertificate {
  const commonName = dnsNames[0] ?? 'localhost';
  return issueCertificate({ ...validity(), commonName, dnsNames, ...details, usage: 'server' });
}

/** Spread into a request: it was valid until an hour ago. */
export function expired(): Pick<CertificateRequest, 'notBefore' | 'notAfter'> {
  const now = Date.now();
  return { notBefore: new Date(now - DAY), notAfter: new Date(now - HOUR) };
}

/** The same with a signature that is not its issuer's. */
export function forge(issued: IssuedCertificate): IssuedCertificate {
  const bytes = Buffer.from(new X509Certificate(issued.certificate).raw);
  bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1;
  const body = bytes.toString('base64');
  return {
    ...issued,
    certificate: `-----BEGIN CERTIFICATE-----\n${body}\n-----END CERTIFICATE-----\n`,
  };
}

function validity(): Pick<CertificateRequest, 'notBefore' | 'notAfter'> {
  const now = Date.now();
  return { notBefore: new Date(now - HOUR), notAfter: new Date(now + DAY) };
}
