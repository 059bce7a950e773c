import { isIP } from 'node:net';

import { expect } from 'chai';
import fc from 'fast-check';

import { formatIp, parseIp, parseIpRange } from '../../../src/util/ip-range.js';

const canonical = (text: string): string | undefined => {
  const ip = parseIp(text);
  return ip && formatIp(ip);
};

describe('parseIp', () => {
  for (const [text, want] of [
    ['127.0.0.1', '127.0.0.1'],
    ['2001:DB8:0:0::1', '2001:db8::1'],
    ['::', '::'],
    ['::ffff:192.0.2.1', '::ffff:c000:201'],
    ['127.1', undefined],
    ['010.0.0.1', undefined],
    ['fe80::1%eth0', undefined],
    ['', undefined],
  ] as const) {
    it(`gives ${String(want)} for "${text}"`, () => {
      expect(canonical(text)).to.equal(want);
    });
  }

  it('reads back what formatIp writes', () => {
    fc.assert(
      fc.property(fc.oneof(fc.ipV4(), fc.ipV6()), (text) => {
        const once = canonical(text);
        return once !== undefined && isIP(once) > 0 && canonical(once) === once;
      }),
    );
  });
});

describe('parseIpRange', () => {
  for (const [text, first, last] of [
    ['192.0.2.0/30', '192.0.2.0', '192.0.2.3'],
    ['192.0.2.2/30', '192.0.2.0', '192.0.2.3'],
    ['192.0.2.10-192.0.2.19', '192.0.2.10', '192.0.2.19'],
    ['::1', '::1', '::1'],
    ['::/0', '::', 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ] as const) {
    it(`reads ${text}`, () => {
      const range = parseIpRange(text);
      if (!range) throw new Error('not a range');
      const { version } = range;
      expect(formatIp({ version, value: range.first })).to.equal(first);
      expect(formatIp({ version, value: range.last })).to.equal(last);
    });
  }

  for (const text of [
    '',
    '192.0.2.0/33',
    '192.0.2.9-192.0.2.1',
    '192.0.2.1-::1',
    '1.2.3.4/01',
    'a/8',
    '1.2.3.4-1.2.3.5-1.2.3.6',
  ]) {
    it(`refuses "${text}"`, () => {
      expect(parseIpRange(text)).to.equal(undefined);
    });
  }
});
