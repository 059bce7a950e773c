import { expect } from 'chai';
import fc from 'fast-check';
import SemanticsPolicy from 'http-cache-semantics';
import {
  assess,
  initialAge,
  type Storability,
  type StoringRules,
} from '../../../../src/engine/cache/storability.js';
import type { StoredResponse } from '../../../../src/engine/cache/stored-response.js';
import {
  usabilityOf,
  standsInForError,
  type FreshnessContext,
} from '../../../../src/engine/cache/usability.js';
import { clientTermsOf } from '../../../../src/engine/cache/request-terms.js';
import { FieldList } from '../../../../src/engine/exchange/fields.js';

const NOW = Date.UTC(2026, 0, 2, 3, 4, 5);
const DATE = new Date(NOW).toUTCString();
const RULES: StoringRules = { negativeTtls: new Map(), heuristicFraction: 0 };
const ETAG = ['etag', '"a"'];
const at = (ms: number): string => new Date(NOW + ms).toUTCString();

interface Case {
  readonly name: string;
  readonly flat: readonly string[];
  readonly status?: number;
  readonly authorized?: boolean;
  readonly rules?: Partial<StoringRules>;
}

function assessed({ flat, status = 200, authorized = false, rules = {} }: Omit<Case, 'name'>): Storability {
  return assess({ status, fields: new FieldList([...flat]), receivedAtMs: NOW }, authorized, {
    ...RULES,
    ...rules,
  });
}

describe('assess', () => {
  const cc = (value: string): string[] => ['cache-control', value];
  const refused: readonly (Case & { readonly word: string })[] = [
    { name: 'C-11 no-store', flat: cc('max-age=60, No-Store'), word: 'no-store' },
    { name: 'C-11 private', flat: cc('max-age=60, private'), word: 'private' },
    { name: 'C-02 Set-Cookie', flat: [...cc('max-age=60'), 'set-cookie', 'a=1'], word: 'set-cookie' },
    { name: 'Vary: *', flat: [...cc('max-age=60'), 'vary', 'a, *'], word: 'vary' },
    { name: 'C-07 206', flat: cc('max-age=60'), status: 206, word: 'status' },
    { name: '304', flat: cc('max-age=60'), status: 304, word: 'status' },
    { name: '103', flat: cc('max-age=60'), status: 103, word: 'status' },
    { name: 'nothing to be fresh by', flat: [], word: 'no-lifetime' },
    { name: 'max-age=0 without a validator', flat: cc('max-age=0'), word: 'no-lifetime' },
    { name: 'C-12 Expires: 0', flat: ['expires', '0'], word: 'no-lifetime' },
    { name: 'C-01 Authorization', flat: cc('max-age=60'), authorized: true, word: 'authorization' },
    {
      name: 'must-understand of an unknown status',
      flat: cc('max-age=60, must-understand'),
      status: 299,
      word: 'must-understand',
    },
    {
      name: 'a negative answer that is private',
      flat: cc('private'),
      status: 404,
      rules: { negativeTtls: new Map([[404, 5]]) },
      word: 'private',
    },
  ];
  for (const { name, word, ...rest } of refused) {
    it(`refuses ${name}`, () => {
      expect(assessed(rest)).to.deep.equal({ refusal: word });
    });
  }

  const stored: readonly (Case & { readonly terms: object })[] = [
    { name: 'max-age', flat: cc('max-age=60'), terms: { lifetimeMs: 60_000, mustRevalidate: false } },
    {
      name: 'C-20 s-maxage before max-age',
      flat: cc('max-age=5, s-maxage=60'),
      terms: { lifetimeMs: 60_000, mustRevalidate: true },
    },
    {
      name: 'max-age before Expires',
      flat: [...cc('max-age=5'), 'expires', at(60_000)],
      terms: { lifetimeMs: 5_000 },
    },
    {
      name: 'Expires by Date',
      flat: ['date', at(-10_000), 'expires', at(50_000)],
      terms: { lifetimeMs: 60_000 },
    },
    { name: 'Expires without Date', flat: ['expires', at(50_000)], terms: { lifetimeMs: 50_000 } },
    { name: 'a past Expires with a validator', flat: ['expires', at(-1), ...ETAG], terms: { lifetimeMs: 0 } },
    {
      name: 'C-11 no-cache with a validator',
      flat: [...cc('no-cache'), ...ETAG],
      terms: { alwaysValidate: true, lifetimeMs: 0 },
    },
    { name: 'only a validator', flat: ETAG, terms: { lifetimeMs: 0 } },
    { name: 'no heuristics by default', flat: ['last-modified', at(-100_000)], terms: { lifetimeMs: 0 } },
    {
      name: 'heuristics when asked for',
      flat: ['last-modified', at(-100_000)],
      rules: { heuristicFraction: 0.1 },
      terms: { lifetimeMs: 10_000 },
    },
    { name: 'C-01 public', flat: cc('max-age=60, public'), authorized: true, terms: { lifetimeMs: 60_000 } },
    { name: 'C-01 s-maxage', flat: cc('s-maxage=60'), authorized: true, terms: { lifetimeMs: 60_000 } },
    {
      name: 'C-01 must-revalidate',
      flat: cc('max-age=60, must-revalidate'),
      authorized: true,
      terms: { mustRevalidate: true, lifetimeMs: 60_000 },
    },
    {
      name: 'C-02 private="Set-Cookie"',
      flat: [...cc('max-age=60, private="Set-Cookie"'), 'set-cookie', 'a'],
      terms: { withheld: ['set-cookie'] },
    },
    {
      name: 'C-02 no-cache="Set-Cookie"',
      flat: [...cc('max-age=60, no-cache="set-cookie"'), 'set-cookie', 'a'],
      terms: { withheld: ['set-cookie'], alwaysValidate: false },
    },
    {
      name: 'must-understand over no-store',
      flat: cc('max-age=60, must-understand, no-store'),
      terms: { lifetimeMs: 60_000 },
    },
    {
      name: 'an error with a lifetime of its own',
      flat: cc('max-age=60'),
      status: 404,
      terms: { lifetimeMs: 60_000, negative: false },
    },
    {
      name: 'a negative answer',
      flat: [],
      status: 404,
      rules: { negativeTtls: new Map([[404, 3_000]]) },
      terms: { lifetimeMs: 3_000, negative: true },
    },
    {
      name: 'RFC 5861',
      flat: cc('max-age=1, stale-while-revalidate=2, stale-if-error=3'),
      terms: { staleWhileRevalidateMs: 2_000, staleIfErrorMs: 3_000 },
    },
    {
      name: 'RFC 5861 beside s-maxage',
      flat: cc('s-maxage=1, stale-while-revalidate=2'),
      terms: { staleWhileRevalidateMs: 2_000, mustRevalidate: false },
    },
    {
      name: 'must-revalidate over RFC 5861',
      flat: cc('max-age=1, stale-if-error=3, proxy-revalidate'),
      terms: { staleIfErrorMs: 0, mustRevalidate: true },
    },
  ];
  for (const { name, terms, ...rest } of stored) {
    it(`stores ${name}`, () => {
      expect(assessed(rest)).to.deep.include(terms);
    });
  }

  it('agrees with http-cache-semantics where RFC 9111 leaves no choice', () => {
    const directive = fc.constantFrom(
      'max-age=60',
      'max-age=0',
      's-maxage=30',
      'no-store',
      'private',
      'public',
      'must-revalidate',
      'no-cache',
      'x=y',
    );
    const arbitrary = fc.record({
      directives: fc.uniqueArray(directive, { maxLength: 4, selector: (text) => text.split('=')[0] }),
      expires: fc.constantFrom(undefined, 0, 45_000, -5_000),
      age: fc.constantFrom(undefined, 0, 10),
      authorized: fc.boolean(),
      status: fc.constantFrom(200, 203, 301, 404, 410),
    });
    fc.assert(
      fc.property(arbitrary, ({ directives, expires, age, authorized, status }) => {
        const headers = {
          date: DATE,
          etag: '"a"',
          ...(directives.length > 0 ? { 'cache-control': directives.join(', ') } : {}),
          ...(expires === undefined ? {} : { expires: at(expires) }),
          ...(age === undefined ? {} : { age: String(age) }),
        };
        const request = { method: 'GET', url: '/', headers: authorized ? { authorization: 'x' } : {} };
        const oracle = new SemanticsPolicy(request, { status, headers }, { shared: true, cacheHeuristic: 0 });
        const ours = assessed({ flat: Object.entries(headers).flat(), status, authorized });
        expect(!('refusal' in ours), 'storable').to.equal(oracle.storable());
        if ('refusal' in ours) return;
        const fresh = ours.alwaysValidate ? 0 : ours.lifetimeMs;
        expect(fresh / 1000, 'lifetime').to.equal(oracle.maxAge());
      }),
      { numRuns: 500 },
    );
  });
});

describe('age', () => {
  const age = (flat: string[], delayMs = 0): number => initialAge(new FieldList(flat), NOW - delayMs, NOW);

  it('C-12 is the larger of what was said and what Date shows, and counts the delay', () => {
    expect(age(['date', DATE])).to.equal(0);
    expect(age(['date', DATE, 'age', '30'])).to.equal(30_000);
    expect(age(['date', at(-40_000), 'age', '30'])).to.equal(40_000);
    expect(age(['date', at(3_600_000)])).to.equal(0);
    expect(age([], 2_000)).to.equal(2_000);
    expect(age(['age', '30'], 2_000)).to.equal(32_000);
    expect(age(['age', 'old, 0'])).to.equal(0);
    expect(age(['age', '7, 9'])).to.equal(7_000);
    expect(age(['age', '99999999999'])).to.equal(2 ** 31 * 1000);
    expect(age(['age', '-5', 'date', 'now'])).to.equal(0);
  });
});

describe('usability', () => {
  const stored = (directives: string, flat: string[] = []): StoredResponse => {
    const terms = assessed({ flat: ['cache-control', directives, ...ETAG, ...flat] });
    if ('refusal' in terms) throw new Error(terms.refusal);
    return {
      key: 'k',
      uri: 'u',
      status: 200,
      fields: [],
      length: 0,
      terms,
      ageAtArrivalMs: 0,
      arrivedAtMs: NOW,
      dateMs: NOW,
      etag: '"a"',
      lastModified: undefined,
      selectors: [],
    };
  };
  const context = (afterMs: number, request = '', maxTtlMs?: number): FreshnessContext => ({
    nowMs: NOW + afterMs,
    request: clientTermsOf(new FieldList(request === '' ? [] : ['cache-control', request]), true),
    maxTtlMs,
  });
  const cases: readonly (readonly [response: string, afterMs: number, request: string, want: string])[] = [
    ['max-age=60', 59_000, '', 'fresh'],
    ['max-age=60', 60_000, '', 'validate'],
    ['max-age=60', 10_000, 'no-cache', 'validate'],
    ['max-age=60', 10_000, 'max-age=10', 'fresh'],
    ['max-age=60', 10_001, 'max-age=10', 'validate'],
    ['max-age=60', 1, 'max-age=0', 'validate'],
    ['max-age=60', 50_000, 'min-fresh=10', 'fresh'],
    ['max-age=60', 50_001, 'min-fresh=10', 'validate'],
    ['max-age=60', 65_000, 'max-stale', 'stale-allowed'],
    ['max-age=60', 65_000, 'max-stale=5', 'stale-allowed'],
    ['max-age=60', 65_001, 'max-stale=5', 'validate'],
    ['max-age=60, must-revalidate', 61_000, 'max-stale', 'validate'],
    ['s-maxage=60', 61_000, 'max-stale', 'validate'],
    ['max-age=60, no-cache', 1, '', 'validate'],
    ['max-age=60, stale-while-revalidate=5', 65_000, '', 'revalidate-behind'],
    ['max-age=60, stale-while-revalidate=5', 65_001, '', 'validate'],
    ['max-age=60, stale-while-revalidate=5', 61_000, 'max-age=100', 'revalidate-behind'],
    ['max-age=60, stale-while-revalidate=5', 61_000, 'min-fresh=1', 'validate'],
  ];
  for (const [response, afterMs, request, want] of cases) {
    it(`'${response}' after ${afterMs} ms for '${request}': ${want}`, () => {
      expect(usabilityOf(stored(response), context(afterMs, request))).to.equal(want);
    });
  }

  it('is bounded by the policy at any time', () => {
    expect(usabilityOf(stored('max-age=60'), context(9_999, '', 10_000))).to.equal('fresh');
    expect(usabilityOf(stored('max-age=60'), context(10_000, '', 10_000))).to.equal('validate');
  });

  it('C-10 stands in for errors as RFC 5861 allows', () => {
    const stands = (response: string, afterMs: number, request = ''): boolean =>
      standsInForError(stored(response), context(afterMs, request));
    expect(stands('max-age=1, stale-if-error=60', 61_000)).to.equal(true);
    expect(stands('max-age=1, stale-if-error=60', 61_001)).to.equal(false);
    expect(stands('max-age=1', 1_500)).to.equal(false);
    expect(stands('max-age=1', 1_500, 'max-stale=5')).to.equal(true);
    expect(stands('max-age=1, must-revalidate', 1_500, 'max-stale=5')).to.equal(false);
    expect(stands('max-age=1, stale-if-error=60', 500, 'no-cache')).to.equal(false);
    expect(stands('no-cache, stale-if-error=60', 500)).to.equal(false);
  });
});
