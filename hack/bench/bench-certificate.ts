import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { issueCertificate } from '../../src/util/issue-certificate.js';

const DAY_MS = 86_400_000;

export interface BenchCertificate {
  /** PEM. */
  readonly chain: string;
  readonly key: string;
  readonly chainFile: string;
  readonly keyFile: string;
  /** Both in one file. */
  readonly bothFile: string;
}

/** ECDSA P-256 for `bench.test`, the same for every contender. */
export function makeCertificate(directory: string): BenchCertificate {
  const now = Date.now();
  const validity = { notBefore: new Date(now - DAY_MS), notAfter: new Date(now + 30 * DAY_MS) };
  const authority = issueCertificate({ ...validity, commonName: 'Bench CA', usage: 'authority' });
  const leaf = issueCertificate(
    { ...validity, commonName: 'bench.test', dnsNames: ['bench.test', 'localhost'], usage: 'server' },
    authority,
  );
  mkdirSync(directory, { recursive: true });
  const write = (name: string, text: string): string => {
    const file = path.join(directory, name);
    writeFileSync(file, text);
    return file;
  };
  const chain = leaf.certificate;
  const key = leaf.privateKey;
  return {
    chain,
    key,
    chainFile: write('chain.pem', chain),
    keyFile: write('key.pem', key),
    bothFile: write('both.pem', chain + key),
  };
}
