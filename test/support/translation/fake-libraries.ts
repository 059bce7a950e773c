import { createLibraries } from '../../../src/app/libraries.js';
import type { CaBundleCheck, CertificateCheck, Libraries } from '../../../src/graph/libraries.js';

/**
 * The real libraries, but certificates are texts that a person can read and write:
 * `CERT names=a.test,*.b.test pair=1` goes with `KEY pair=1`; ` expired` at the end is a warning. A CA is `CA <anything>`.
 */
export function fakeLibraries(overrides: Partial<Libraries> = {}): Libraries {
  return {
    ...createLibraries(() => 0),
    checkCertificate,
    checkCaBundle,
    ...overrides,
  };
}

function checkCertificate(chain: string, privateKey: string): CertificateCheck {
  const cert = /^CERT names=(\S+) pair=(\S+)( expired)?$/.exec(chain.trim());
  if (!cert) return { ok: false, problem: 'holds no PEM certificate' };
  const key = /^KEY pair=(\S+)$/.exec(privateKey.trim());
  if (!key) return { ok: false, problem: 'has an unusable key' };
  if (cert[2] !== key[1]) return { ok: false, problem: 'has a key of another certificate' };
  const names = (cert[1] ?? '').split(',');
  return cert[3] === undefined ? { ok: true, names } : { ok: true, names, warning: 'has expired' };
}

function checkCaBundle(pem: string): CaBundleCheck {
  const text = pem.trim();
  return text.startsWith('CA ')
    ? { ok: true, pem: text }
    : { ok: false, problem: 'holds no PEM certificate' };
}
