/** Writes the TLS Secret of the standalone sample, once: a certificate for localhost that nobody else trusts. */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

import { stringify } from 'yaml';

import { issueCertificate } from '../src/util/issue-certificate.js';

const FILE = 'examples/standalone/tls/localhost.yaml';
const YEAR_MS = 365 * 24 * 3_600_000;

if (!existsSync(FILE)) {
  const { certificate, privateKey } = issueCertificate({
    commonName: 'localhost',
    dnsNames: ['localhost', '*.localhost'],
    ipAddresses: ['127.0.0.1'],
    usage: 'server',
    notBefore: new Date(Date.now() - 3_600_000),
    notAfter: new Date(Date.now() + YEAR_MS),
  });
  mkdirSync(dirname(FILE), { recursive: true });
  writeFileSync(
    FILE,
    stringify({
      apiVersion: 'v1',
      kind: 'Secret',
      type: 'kubernetes.io/tls',
      metadata: { name: 'localhost', namespace: 'default' },
      data: {
        'tls.crt': Buffer.from(certificate).toString('base64'),
        'tls.key': Buffer.from(privateKey).toString('base64'),
      },
    }),
    { mode: 0o600 },
  );
  console.log(`wrote ${FILE}`);
}
