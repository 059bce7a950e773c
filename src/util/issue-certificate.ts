import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  randomBytes,
  sign,
} from 'node:crypto';
import { isIPv4 } from 'node:net';

export interface CertificateRequest {
  readonly commonName: string;
  readonly dnsNames?: readonly string[];
  readonly ipAddresses?: readonly string[];
  readonly uris?: readonly string[];
  readonly usage: 'server' | 'client' | 'authority';
  readonly keyType?: 'ec' | 'rsa';
  readonly notBefore: Date;
  readonly notAfter: Date;
}

export interface IssuedCertificate {
  readonly commonName: string;
  /** PEM. */
  readonly certificate: string;
  /** PEM, PKCS#8. */
  readonly privateKey: string;
}

/**
 * Makes a key pair and a certificate for it (RFC 5280), signed by `issuer` or by itself. For certificates of
 * examples and tests: names are ASCII, nothing is revocable, keys are P-256 or RSA 2048.
 */
export function issueCertificate(request: CertificateRequest, issuer?: IssuedCertificate): IssuedCertificate {
  const pair =
    request.keyType === 'rsa'
      ? generateKeyPairSync('rsa', { modulusLength: 2048 })
      : generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  const signingKey = issuer === undefined ? pair.privateKey : createPrivateKey(issuer.privateKey);
  const issuerKey = issuer === undefined ? pair.publicKey : createPublicKey(issuer.privateKey);
  const publicKey = pair.publicKey.export({ type: 'spki', format: 'der' });
  const algorithm = signingKey.asymmetricKeyType === 'rsa' ? SHA256_WITH_RSA : ECDSA_WITH_SHA256;

  const toBeSigned = sequence(
    explicit(0, integer(Buffer.of(2))),
    integer(serialNumber()),
    algorithm,
    name(issuer?.commonName ?? request.commonName),
    sequence(time(request.notBefore), time(request.notAfter)),
    name(request.commonName),
    publicKey,
    explicit(
      3,
      sequence(...extensions(request, publicKey, issuerKey.export({ type: 'spki', format: 'der' }))),
    ),
  );
  const signature = sign('sha256', toBeSigned, signingKey);
  return {
    commonName: request.commonName,
    certificate: pem(sequence(toBeSigned, algorithm, bitString(signature))),
    privateKey: pair.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
}

function extensions(request: CertificateRequest, publicKey: Buffer, issuerKey: Buffer): Buffer[] {
  const isAuthority = request.usage === 'authority';
  const list = [
    extension('551d13', true, isAuthority ? sequence(der(0x01, Buffer.of(0xff))) : sequence()),
    // keyUsage: keyCertSign and cRLSign, or digitalSignature and keyEncipherment.
    extension('551d0f', true, der(0x03, isAuthority ? Buffer.of(1, 0x06) : Buffer.of(5, 0xa0))),
    extension('551d0e', false, der(0x04, keyIdentifier(publicKey))),
    extension('551d23', false, sequence(der(0x80, keyIdentifier(issuerKey)))),
  ];
  if (!isAuthority) {
    const purpose = request.usage === 'server' ? '2b06010505070301' : '2b06010505070302';
    list.push(extension('551d25', false, sequence(objectIdentifier(purpose))));
  }
  const alternatives = [
    ...(request.dnsNames ?? []).map((value) => der(0x82, Buffer.from(value, 'latin1'))),
    ...(request.uris ?? []).map((value) => der(0x86, Buffer.from(value, 'latin1'))),
    ...(request.ipAddresses ?? []).map((value) => der(0x87, addressBytes(value))),
  ];
  if (alternatives.length > 0) list.push(extension('551d11', false, sequence(...alternatives)));
  return list;
}

function serialNumber(): Buffer {
  const serial = randomBytes(16);
  // Positive and not zero: RFC 5280 section 4.1.2.2.
  serial[0] = ((serial[0] ?? 0) & 0x7f) | 0x40;
  return serial;
}

function keyIdentifier(publicKey: Buffer): Buffer {
  return createHash('sha1').update(publicKey).digest();
}

function addressBytes(address: string): Buffer {
  if (isIPv4(address)) return Buffer.from(address.split('.').map(Number));
  const [head = '', tail] = address.split('::');
  const groups = (text: string): string[] => (text === '' ? [] : text.split(':'));
  const left = groups(head);
  const right = groups(tail ?? '');
  const middle = Array.from({ length: 8 - left.length - right.length }, () => '0');
  return Buffer.from([...left, ...middle, ...right].map((group) => group.padStart(4, '0')).join(''), 'hex');
}

function der(tag: number, content: Buffer): Buffer {
  const { length } = content;
  const size =
    length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.of(tag, ...size), content]);
}

function sequence(...parts: readonly Buffer[]): Buffer {
  return der(0x30, Buffer.concat(parts));
}

function explicit(tag: number, content: Buffer): Buffer {
  return der(0xa0 | tag, content);
}

function integer(bytes: Buffer): Buffer {
  return der(0x02, bytes);
}

function bitString(bytes: Buffer): Buffer {
  return der(0x03, Buffer.concat([Buffer.of(0), bytes]));
}

function objectIdentifier(hex: string): Buffer {
  return der(0x06, Buffer.from(hex, 'hex'));
}

function extension(oid: string, critical: boolean, value: Buffer): Buffer {
  const flag = critical ? [der(0x01, Buffer.of(0xff))] : [];
  return sequence(objectIdentifier(oid), ...flag, der(0x04, value));
}

function name(commonName: string): Buffer {
  const attribute = sequence(objectIdentifier('550403'), der(0x0c, Buffer.from(commonName, 'utf8')));
  return sequence(der(0x31, attribute));
}

/** UTCTime up to 2049, then GeneralizedTime: RFC 5280 section 4.1.2.5. */
function time(date: Date): Buffer {
  const digits = date.toISOString().replace(/[-:T]|\.\d+/g, '');
  return date.getUTCFullYear() < 2050
    ? der(0x17, Buffer.from(digits.slice(2), 'latin1'))
    : der(0x18, Buffer.from(digits, 'latin1'));
}

function pem(bytes: Buffer): string {
  const lines = bytes.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`;
}

const ECDSA_WITH_SHA256 = sequence(objectIdentifier('2a8648ce3d040302'));
const SHA256_WITH_RSA = sequence(objectIdentifier('2a864886f70d01010b'), der(0x05, Buffer.alloc(0)));
