import { expect } from 'chai';
import fc from 'fast-check';
import { parseRanges } from '../../../../src/engine/cache/byte-ranges.js';
import { isNotModified, isRangeCurrent } from '../../../../src/engine/cache/conditional.js';
import {
  fieldNamesOf,
  parseDirectives,
  parseSeconds,
  secondsOf,
} from '../../../../src/engine/cache/directives.js';
import { parseHttpDate } from '../../../../src/engine/cache/http-date.js';
import { clientTermsOf } from '../../../../src/engine/cache/request-terms.js';
import { FieldList } from '../../../../src/engine/exchange/fields.js';

const NOW = Date.UTC(2026, 0, 2, 3, 4, 5);

describe('parseHttpDate', () => {
  const want = Date.UTC(1994, 10, 6, 8, 49, 37);
  const cases: readonly (readonly [text: string, time: number | undefined])[] = [
    ['Sun, 06 Nov 1994 08:49:37 GMT', want],
    ['Sunday, 06-Nov-94 08:49:37 GMT', want],
    ['Sun Nov  6 08:49:37 1994', want],
    ['Sunday, 06-Nov-70 08:49:37 GMT', Date.UTC(2070, 10, 6, 8, 49, 37)],
    ['Sun, 06 Nov 1994 08:49:37 UTC', undefined],
    ['Sun, 06 Nov 1994 08:49:37', undefined],
    ['Sun, 31 Feb 1994 08:49:37 GMT', undefined],
    ['Sun, 06 Nov 1994 24:00:00 GMT', undefined],
    ['Sun, 6 Nov 1994 08:49:37 GMT', undefined],
    ['0', undefined],
    ['', undefined],
  ];
  for (const [text, time] of cases) {
    it(`C-12 reads '${text}' as ${time ?? 'no date'}`, () => {
      expect(parseHttpDate(text, NOW)).to.equal(time);
    });
  }

  it('reads back what toUTCString writes', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 4_000_000_000 }), (seconds) => {
        expect(parseHttpDate(new Date(seconds * 1000).toUTCString(), NOW)).to.equal(seconds * 1000);
      }),
    );
  });
});

describe('parseDirectives', () => {
  const parsed = (...lines: string[]): Record<string, string | true> =>
    Object.fromEntries(parseDirectives(lines));

  it('C-11 takes any case, several lines, quoted arguments and unknown names', () => {
    expect(parsed('Max-Age=60, NO-CACHE="Set-Cookie, X"', 'foo , private')).to.deep.equal({
      'max-age': '60',
      'no-cache': 'Set-Cookie, X',
      foo: true,
      private: true,
    });
    expect(parsed('max-age="60"', 'x="a\\"b, no-store"')).to.deep.equal({
      'max-age': '60',
      x: 'a"b, no-store',
    });
    expect(parsed()).to.deep.equal({});
    expect(parsed('max-age=1, max-age=2')).to.deep.equal({ 'max-age': '1' });
  });

  it('C-12 counts what is no number of seconds as none, and clamps', () => {
    const seconds = (line: string): number | undefined => secondsOf(parseDirectives([line]), 'max-age');
    expect(seconds('max-age=60')).to.equal(60_000);
    expect(seconds('max-age=-1')).to.equal(0);
    expect(seconds('max-age=1.5')).to.equal(0);
    expect(seconds('max-age =60')).to.equal(0);
    expect(seconds('max-age')).to.equal(0);
    expect(seconds('max-age=99999999999999')).to.equal(2 ** 31 * 1000);
    expect(seconds('no-store')).to.equal(undefined);
    expect(parseSeconds('1e3')).to.equal(undefined);
  });

  it('lists field names', () => {
    const directives = parseDirectives(['private="Set-Cookie , X-A", no-cache, no-transform=""']);
    expect(fieldNamesOf(directives, 'private')).to.deep.equal(['set-cookie', 'x-a']);
    expect(fieldNamesOf(directives, 'no-cache')).to.deep.equal([]);
    expect(fieldNamesOf(directives, 'no-transform')).to.deep.equal([]);
    expect(fieldNamesOf(directives, 'absent')).to.deep.equal([]);
  });
});

describe('clientTermsOf', () => {
  const terms = (honors: boolean, ...flat: string[]) => clientTermsOf(new FieldList(flat), honors);

  it('C-11 reads the directives of a request, Pragma only without them', () => {
    expect(terms(true, 'cache-control', 'Max-Age=5, min-fresh=2', 'cache-control', 'max-stale')).to.include({
      maxAgeMs: 5000,
      minFreshMs: 2000,
      maxStaleMs: Infinity,
    });
    expect(terms(true, 'cache-control', 'max-stale=7, only-if-cached')).to.include({
      maxStaleMs: 7000,
      onlyIfCached: true,
    });
    expect(terms(true, 'pragma', 'No-Cache').noCache).to.equal(true);
    expect(terms(true, 'pragma', 'x').noCache).to.equal(false);
    expect(terms(true, 'pragma', 'no-cache', 'cache-control', 'max-age=1').noCache).to.equal(false);
  });

  it('heeds only no-store when clients have no say', () => {
    expect(terms(false, 'cache-control', 'no-cache, only-if-cached, no-store')).to.include({
      noCache: false,
      onlyIfCached: false,
      noStore: true,
    });
    expect(terms(false).noStore).to.equal(false);
  });
});

describe('parseRanges', () => {
  const cases: readonly (readonly [
    field: string,
    want: readonly (readonly [number, number])[] | 'ignored',
  ])[] = [
    ['bytes=0-99', [[0, 99]]],
    ['bytes=0-', [[0, 999]]],
    ['bytes=-1', [[999, 999]]],
    ['bytes=-5000', [[0, 999]]],
    ['bytes=990-5000', [[990, 999]]],
    ['Bytes=5-5', [[5, 5]]],
    [
      'bytes=0-0,2-2',
      [
        [0, 0],
        [2, 2],
      ],
    ],
    [
      'bytes=5-5, 0-0',
      [
        [5, 5],
        [0, 0],
      ],
    ],
    ['bytes=0-0,2000-', [[0, 0]]],
    ['bytes=999-', [[999, 999]]],
    ['bytes=1000-', []],
    ['bytes=-0', []],
    ['bytes=5-2', 'ignored'],
    ['bytes=-', 'ignored'],
    ['bytes=a-b', 'ignored'],
    ['bytes=0-5,3-8', 'ignored'],
    ['items=0-1', 'ignored'],
    ['bytes=', 'ignored'],
    [`bytes=${Array.from({ length: 17 }, (_, i) => `${i * 2}-${i * 2}`).join(',')}`, 'ignored'],
  ];
  for (const [field, want] of cases) {
    it(`C-07 ${field.slice(0, 30)}`, () => {
      const ranges = parseRanges(field, 1000);
      expect(ranges === 'ignored' ? ranges : ranges.map(({ first, last }) => [first, last])).to.deep.equal(
        want,
      );
    });
  }

  it('C-07 finds nothing in an empty body', () => {
    expect(parseRanges('bytes=0-', 0)).to.deep.equal([]);
    expect(parseRanges('bytes=-1', 0)).to.deep.equal([]);
  });
});

describe('conditions', () => {
  const lastModified = 'Thu, 01 Jan 2026 00:00:00 GMT';
  const validators = { etag: '"a"', lastModified, dateMs: NOW };
  const not = (flat: string[], rest = {}): boolean =>
    isNotModified(new FieldList(flat), { ...validators, ...rest }, NOW);

  it('compares If-None-Match weakly and before If-Modified-Since', () => {
    expect(not(['if-none-match', '"a"'])).to.equal(true);
    expect(not(['if-none-match', 'W/"a"'])).to.equal(true);
    expect(not(['if-none-match', '"a"'], { etag: 'W/"a"' })).to.equal(true);
    expect(not(['if-none-match', '"x", W/"y"', 'if-none-match', '"a"'])).to.equal(true);
    expect(not(['if-none-match', '*'])).to.equal(true);
    expect(not(['if-none-match', '"b"'])).to.equal(false);
    expect(not(['if-none-match', 'a'])).to.equal(false);
    expect(not(['if-none-match', '"a"'], { etag: undefined })).to.equal(false);
    expect(not(['if-none-match', '"b"', 'if-modified-since', lastModified])).to.equal(false);
  });

  it('compares If-Modified-Since with Last-Modified or Date', () => {
    expect(not(['if-modified-since', lastModified])).to.equal(true);
    expect(not(['if-modified-since', 'Wed, 31 Dec 2025 23:59:59 GMT'])).to.equal(false);
    expect(not(['if-modified-since', 'yesterday'])).to.equal(false);
    expect(not(['if-modified-since', new Date(NOW).toUTCString()], { lastModified: undefined })).to.equal(
      true,
    );
    expect(not(['if-modified-since', lastModified], { lastModified: undefined })).to.equal(false);
    expect(not([])).to.equal(false);
  });

  it('C-07 applies If-Range only to strong validators', () => {
    expect(isRangeCurrent('"a"', validators, NOW)).to.equal(true);
    expect(isRangeCurrent('"b"', validators, NOW)).to.equal(false);
    expect(isRangeCurrent('W/"a"', { ...validators, etag: 'W/"a"' }, NOW)).to.equal(false);
    expect(isRangeCurrent(lastModified, validators, NOW)).to.equal(true);
    expect(isRangeCurrent('Wed, 31 Dec 2025 23:59:59 GMT', validators, NOW)).to.equal(false);
    const justChanged = { ...validators, dateMs: Date.UTC(2026, 0, 1, 0, 0, 0) };
    expect(isRangeCurrent(lastModified, justChanged, NOW), 'a weak date').to.equal(false);
    expect(isRangeCurrent(lastModified, { ...validators, lastModified: undefined }, NOW)).to.equal(false);
  });
});
