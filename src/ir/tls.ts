import type { SecretBytes } from '../util/secret-bytes.js';

/** A certificate chain with its key. */
export interface Certificate {
  /** `Secret/ns/name`; unique. */
  readonly key: string;
  /** PEM, leaf first. */
  readonly chain: string;
  readonly privateKey: SecretBytes;
}

/** How TLS ends at a server. */
export interface ServerTls {
  /** Keys into `ProxyConfiguration.certificates`: the first whose key type suits the client is used. */
  readonly certificates: readonly string[];
  readonly clientValidation?: ClientValidation;
}

/** Client certificates of the Gateway's `tls.frontend` (GEP-91). */
export interface ClientValidation {
  /** `require`: no or a wrong certificate ends the handshake. `insecure-fallback`: ask, accept everything. */
  readonly mode: 'require' | 'insecure-fallback';
  /** Bundle of trusted CAs, PEM. */
  readonly caBundle: string;
}

/** How TLS to an upstream is made: BackendTLSPolicy and the Gateway's `tls.backend`. */
export interface UpstreamTls {
  /** SNI, and the name the certificate must have unless `subjectAltNames` is given. */
  readonly serverName: string;
  /** PEM bundle; absent means the roots of the system. */
  readonly caBundle?: string;
  /** When not empty the certificate must have one of these *instead of* `serverName`. */
  readonly subjectAltNames: readonly SubjectAltName[];
  /** Key into `ProxyConfiguration.certificates` of the certificate to present. */
  readonly clientCertificate?: string;
}

export interface SubjectAltName {
  readonly type: 'hostname' | 'uri';
  readonly value: string;
}
