import { X509Certificate } from 'node:crypto';
import { expect } from 'chai';
import {
  createIdentityCheck,
  identityRefusal,
  type ExpectedIdentity,
} from '../../../../../src/engine/wire/tls/identity.js';
import type { PeerCertificate } from '../../../../../src/engine/wire/wire.js';
import { TestAuthority } from '../../../../support/certificates.js';

describe('createIdentityCheck', () => {
  const authority = new TestAuthority();

  function certificate(
    names: readonly string[],
    details: { uris?: string[]; ipAddresses?: string[] } = {},
  ): PeerCertificate {
    const parsed = new X509Certificate(
      authority.server(names, { commonName: 'common.test', ...details }).certificate,
    );
    return { subject: parsed.subject, subjectAltName: parsed.subjectAltName ?? '', raw: parsed.raw };
  }

  const plain = certificate(['a.test', '*.b.test'], {
    uris: ['spiffe://x/y'],
    ipAddresses: ['10.0.0.1', '::1'],
  });
  const tricky = certificate(['x, URI:spiffe://x/y', 'x, URI:spiffe://x/y, y', 'DNS:"a']);
  const host = (value: string): ExpectedIdentity => ({ serverName: value, subjectAltNames: [] });
  const names = (...subjectAltNames: ExpectedIdentity['subjectAltNames']): ExpectedIdentity => ({
    serverName: 'a.test',
    subjectAltNames,
  });

  const cases = [
    { name: 'an exact name', shown: plain, expected: host('a.test'), good: true },
    { name: 'a name in upper case', shown: plain, expected: host('A.TEST'), good: true },
    { name: 'a wildcard', shown: plain, expected: host('x.b.test'), good: true },
    { name: 'a wildcard of two labels', shown: plain, expected: host('x.y.b.test'), good: false },
    { name: 'another name', shown: plain, expected: host('c.test'), good: false },
    { name: 'the common name', shown: plain, expected: host('common.test'), good: false },
    { name: 'an IPv4 address', shown: plain, expected: host('10.0.0.1'), good: true },
    { name: 'an IPv6 address', shown: plain, expected: host('::1'), good: true },
    { name: 'another address', shown: plain, expected: host('10.0.0.2'), good: false },
    { name: 'a URI', shown: plain, expected: names({ type: 'uri', value: 'spiffe://x/y' }), good: true },
    { name: 'another URI', shown: plain, expected: names({ type: 'uri', value: 'spiffe://x' }), good: false },
    {
      name: 'P-04 a hostname of the list, without the server name',
      shown: plain,
      expected: names({ type: 'hostname', value: 'z.b.test' }),
      good: true,
    },
    {
      name: 'P-04 a list that does not hold the server name, which the certificate has',
      shown: plain,
      expected: names({ type: 'hostname', value: 'c.test' }, { type: 'uri', value: 'spiffe://no' }),
      good: false,
    },
    {
      name: 'the second of a list',
      shown: plain,
      expected: names({ type: 'uri', value: 'spiffe://no' }, { type: 'hostname', value: 'a.test' }),
      good: true,
    },
    {
      name: 'a URI hidden in a DNS name',
      shown: tricky,
      expected: names({ type: 'uri', value: 'spiffe://x/y' }),
      good: false,
    },
  ];
  for (const { name, shown, expected, good } of cases) {
    it(`${good ? 'accepts' : 'refuses'} ${name}`, () => {
      const reason = createIdentityCheck(expected)(shown);
      if (good) expect(reason).to.equal(undefined);
      else expect(reason).to.match(/^the certificate /);
    });
  }
});

describe('identityRefusal', () => {
  const { certificate } = new TestAuthority().server(['a.test']);
  const { subject, subjectAltName = '', raw } = new X509Certificate(certificate);
  const shown: PeerCertificate = { subject, subjectAltName, raw };
  const code = 'ERR_TLS_CERT_ALTNAME_INVALID';

  it('asks for the server name when nothing else is said', () => {
    expect(identityRefusal(shown, { serverName: 'a.test' })).to.equal(undefined);
    const message = 'the certificate is not valid for b.test';
    expect(identityRefusal(shown, { serverName: 'b.test' })).to.deep.equal({ code, message });
  });

  it('leaves the verdict to the check that is given', () => {
    expect(identityRefusal(shown, { serverName: 'b.test', verify: () => undefined })).to.equal(undefined);
    expect(identityRefusal(shown, { serverName: 'a.test', verify: () => 'no' })).to.deep.equal({
      code,
      message: 'no',
    });
  });

  it('refuses a server without a certificate, whatever the check says', () => {
    const message = 'the server has shown no certificate';
    expect(identityRefusal(undefined, { serverName: 'a.test', verify: () => undefined })).to.deep.equal({
      code,
      message,
    });
  });
});
