/** certificate SECRET COMMON-NAME DNS-NAME: creates or replaces a TLS Secret with a new self-signed certificate. */
import { execFileSync } from 'node:child_process';

import { issueCertificate } from '../../../src/util/issue-certificate.js';

const [name = '', commonName = '', dnsName = ''] = process.argv.slice(2);
const day = 86_400_000;
const { certificate, privateKey } = issueCertificate({
  commonName,
  dnsNames: [dnsName],
  usage: 'server',
  notBefore: new Date(Date.now() - day),
  notAfter: new Date(Date.now() + day),
});
const base64 = (text: string): string => Buffer.from(text).toString('base64');
const secret = {
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name },
  type: 'kubernetes.io/tls',
  data: { 'tls.crt': base64(certificate), 'tls.key': base64(privateKey) },
};
execFileSync('kubectl', ['apply', '-f', '-'], {
  input: JSON.stringify(secret),
  stdio: ['pipe', 'inherit', 'inherit'],
});
