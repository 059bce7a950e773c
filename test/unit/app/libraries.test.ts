import { expect } from 'chai';

import { createLibraries } from '../../../src/app/libraries.js';
import { issueCertificate } from '../../../src/util/issue-certificate.js';

const NOW = Date.UTC(2026, 0, 1);
const DAY = 86_400_000;
const issue = (notAfter = NOW + DAY) =>
  issueCertificate({
    commonName: 'a.test',
    dnsNames: ['A.test', '*.b.test'],
    usage: 'server',
    notBefore: new Date(NOW - 2 * DAY),
    notAfter: new Date(notAfter),
  });

describe('createLibraries', () => {
  const libraries = createLibraries(() => NOW);
  const good = issue();

  it('takes a pair and says its names', () => {
    expect(libraries.checkCertificate(good.certificate, good.privateKey)).to.deep.equal({
      ok: true,
      names: ['a.test', '*.b.test'],
    });
  });

  it('T-02 takes CRLF line ends, white space after the lines and no last newline', () => {
    const odd = good.certificate.trimEnd().replaceAll('\n', ' \r\n');
    expect(libraries.checkCertificate(odd, good.privateKey.trimEnd())).to.have.property('ok', true);
  });

  it('T-03 refuses a key of another certificate, and warns of one that has expired', () => {
    expect(libraries.checkCertificate(good.certificate, issue().privateKey)).to.deep.equal({
      ok: false,
      problem: 'has a key of another certificate',
    });
    const old = issue(NOW - DAY);
    expect(libraries.checkCertificate(old.certificate, old.privateKey))
      .to.have.property('warning')
      .that.includes('expired');
  });

  it('T-03 keeps what is usable of a CA bundle', () => {
    const junk = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n';
    expect(libraries.checkCaBundle(junk + good.certificate)).to.deep.equal({
      ok: true,
      pem: `${good.certificate.trimEnd()}\n`,
    });
    expect(libraries.checkCaBundle(junk)).to.have.property('ok', false);
    expect(libraries.checkCaBundle('')).to.have.property('ok', false);
  });

  for (const [name, chain, key, problem] of [
    ['text that is no certificate', 'x', 'x', 'holds no PEM certificate'],
    ['text that is no key', good.certificate, 'x', 'has an unusable key'],
    ['an encrypted key', good.certificate, '-----BEGIN ENCRYPTED PRIVATE KEY-----', 'has an encrypted key'],
    [
      'a broken certificate',
      '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----',
      good.privateKey,
      'holds an unusable certificate',
    ],
  ] as const) {
    it(`refuses ${name}`, () => {
      expect(libraries.checkCertificate(chain, key)).to.have.property('problem').that.includes(problem);
    });
  }

  it('says what RE2 does not take', () => {
    expect(libraries.regexProblem('/a[0-9]+')).to.equal(undefined);
    expect(libraries.regexProblem('(?=a)')).to.be.a('string');
  });

  it('walks through address ranges', () => {
    const range = libraries.parseAddressRange('192.0.2.254/31');
    expect([...(range?.addresses() ?? [])]).to.deep.equal(['192.0.2.254', '192.0.2.255']);
    expect(range?.contains('192.0.2.255')).to.equal(true);
    expect(range?.contains('192.0.3.0')).to.equal(false);
    expect(range?.contains('::1')).to.equal(false);
    expect(libraries.parseAddressRange('nothing')).to.equal(undefined);
    expect(libraries.canonicalAddress('::0:1')).to.equal('::1');
  });
});
