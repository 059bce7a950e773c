import { createPrivateKey, X509Certificate } from 'node:crypto';
import { expect } from 'chai';
import { issueCertificate } from '../../../src/util/issue-certificate.js';
import { expired, selfSigned, TestAuthority } from '../../support/certificates.js';

describe('issueCertificate', () => {
  const authority = new TestAuthority('Root');

  for (const keyType of ['ec', 'rsa'] as const) {
    it(`issues a leaf that its authority has signed (${keyType})`, () => {
      const ca = new X509Certificate(authority.certificate);
      const leaf = authority.server(['a.test', '*.b.test'], {
        keyType,
        ipAddresses: ['127.0.0.1', '::1'],
        uris: ['spiffe://x/y'],
      });
      const parsed = new X509Certificate(leaf.certificate);

      expect(parsed.checkIssued(ca)).to.equal(true);
      expect(parsed.verify(ca.publicKey)).to.equal(true);
      expect(parsed.checkPrivateKey(createPrivateKey(leaf.privateKey))).to.equal(true);
      expect(parsed.subjectAltName).to.equal(
        'DNS:a.test, DNS:*.b.test, URI:spiffe://x/y, IP Address:127.0.0.1, IP Address:0:0:0:0:0:0:0:1',
      );
      expect(parsed.ca).to.equal(false);
      expect(ca.ca).to.equal(true);
    });
  }

  it('writes dates of both centuries', () => {
    const { certificate } = issueCertificate({
      commonName: 'old',
      usage: 'client',
      notBefore: new Date('1999-12-31T23:59:59Z'),
      notAfter: new Date('2050-01-02T03:04:05Z'),
    });
    const parsed = new X509Certificate(certificate);
    expect(new Date(parsed.validFrom).toISOString()).to.equal('1999-12-31T23:59:59.000Z');
    expect(new Date(parsed.validTo).toISOString()).to.equal('2050-01-02T03:04:05.000Z');
  });

  it('is what the helpers say', () => {
    expect(new X509Certificate(selfSigned(['x.test']).certificate).subject).to.equal('CN=x.test');
    const old = new X509Certificate(authority.client('me', expired()).certificate);
    expect(Date.parse(old.validTo)).to.be.below(Date.now());
    expect(old.subject).to.equal('CN=me');
  });
});
