import type { CertificateNode } from '../graph/certificate.js';
import type { ListenerTls } from '../graph/listener.js';
import type { Certificate, ServerTls } from '../ir/tls.js';

/** How TLS ends at a listener; undefined for passthrough. */
export function toServerTls({ mode, certificates, clientValidation }: ListenerTls): ServerTls | undefined {
  if (mode === 'passthrough') return undefined;
  return {
    certificates: certificates.map(({ key }) => key),
    ...(clientValidation && { clientValidation }),
  };
}

export function toCertificate({ key, pair }: CertificateNode): Certificate | undefined {
  return pair && { key, chain: pair.chain, privateKey: pair.privateKey };
}
