import { createPrivateKey, createPublicKey, type KeyObject, X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';

import { RE2JS } from 're2js';

import type {
  AddressRange,
  CaBundleCheck,
  CertificateCheck,
  CertificatePair,
  Libraries,
} from '../graph/libraries.js';
import { messageOf } from '../util/errors.js';
import { formatIp, type IpRange, parseIp, parseIpRange } from '../util/ip-range.js';

const PEM_CERTIFICATE = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g;

/**
 * The library functions of graph and translation, each memoised on its argument. `lastGood` gives the pair that is
 * served under a Secret (`namespace/name`).
 */
export function createLibraries(
  now: () => number,
  lastGood?: (secret: string) => CertificatePair | undefined,
): Libraries {
  const certificates = memoised((pair: string) => {
    const [chain = '', key = ''] = pair.split(SEPARATOR);
    return checkCertificate(chain, key, now());
  });
  return {
    checkCertificate: (chain, privateKey) => certificates(`${chain}${SEPARATOR}${privateKey}`),
    checkCaBundle: memoised(checkCaBundle),
    regexProblem: memoised(regexProblem),
    parseAddressRange: memoised(parseAddressRange),
    canonicalAddress: memoised(canonicalAddress),
    ...(lastGood && { lastGoodCertificate: lastGood }),
  };
}

const SEPARATOR = '\0';
const MEMO_SIZE = 10_000;

/** Remembers results; starts anew when there are too many, so inputs that come and go do not fill the memory. */
function memoised<R>(calculate: (argument: string) => R): (argument: string) => R {
  let results = new Map<string, R>();
  return (argument) => {
    if (results.has(argument)) {
      // A result may be `undefined`, so `has` decides; the map holds what R says.
      return results.get(argument) as R;
    }
    if (results.size >= MEMO_SIZE) results = new Map();
    const result = calculate(argument);
    results.set(argument, result);
    return result;
  };
}

function checkCertificate(chain: string, privateKey: string, now: number): CertificateCheck {
  const blocks = chain.match(PEM_CERTIFICATE) ?? [];
  const [first] = blocks;
  if (first === undefined) return { ok: false, problem: 'holds no PEM certificate' };
  let key: KeyObject;
  try {
    key = createPrivateKey(privateKey);
  } catch (error) {
    const encrypted = privateKey.includes('ENCRYPTED');
    return {
      ok: false,
      problem: encrypted ? 'has an encrypted key' : `has an unusable key: ${messageOf(error)}`,
    };
  }
  try {
    const leaf = new X509Certificate(first);
    if (!samePublicKey(leaf.publicKey, key))
      return { ok: false, problem: 'has a key of another certificate' };
    // What TLS itself says of the pair is what counts in the end.
    createSecureContext({ cert: chain, key: privateKey });
    const expired = leaf.validToDate.getTime() < now;
    return {
      ok: true,
      names: dnsNames(leaf),
      ...(expired && { warning: `expired at ${leaf.validToDate.toISOString()}` }),
    };
  } catch (error) {
    return { ok: false, problem: `holds an unusable certificate: ${messageOf(error)}` };
  }
}

function samePublicKey(publicKey: KeyObject, privateKey: KeyObject): boolean {
  return publicKey.equals(createPublicKey(privateKey));
}

function dnsNames(leaf: X509Certificate): string[] {
  const names = (leaf.subjectAltName ?? '').split(', ');
  return names.flatMap((name) => (name.startsWith('DNS:') ? [name.slice('DNS:'.length).toLowerCase()] : []));
}

function checkCaBundle(pem: string): CaBundleCheck {
  const blocks = pem.match(PEM_CERTIFICATE) ?? [];
  if (blocks.length === 0) return { ok: false, problem: 'holds no PEM certificate' };
  const usable = blocks.filter(isCertificate);
  if (usable.length === 0) return { ok: false, problem: 'holds no certificate that can be read' };
  return { ok: true, pem: `${usable.join('\n')}\n` };
}

function isCertificate(pem: string): boolean {
  try {
    new X509Certificate(pem);
    return true;
  } catch {
    return false; // the caller counts what is left
  }
}

function regexProblem(pattern: string): string | undefined {
  try {
    RE2JS.compile(pattern);
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}

function parseAddressRange(text: string): AddressRange | undefined {
  const range = parseIpRange(text);
  if (!range) return undefined;
  return {
    contains: (address) => {
      const ip = parseIp(address);
      return ip?.version === range.version && ip.value >= range.first && ip.value <= range.last;
    },
    addresses: () => addressesOf(range),
  };
}

function* addressesOf({ version, first, last }: IpRange): Generator<string> {
  for (let value = first; value <= last; value += 1n) yield formatIp({ version, value });
}

function canonicalAddress(text: string): string | undefined {
  const ip = parseIp(text);
  return ip && formatIp(ip);
}
