import { expect } from 'chai';
import fc from 'fast-check';

import {
  mergeCacheSettings,
  parseCacheSettings,
  type CacheSettings,
  type HeaderChange,
} from '../../../src/graph/cache-settings.js';
import { toCachePolicy } from '../../../src/translation/cache-policies.js';
import { objectOf } from '../../support/apis.js';

const parse = (yaml: string): CacheSettings => {
  const { spec } = objectOf(
    'TricksterCachePolicy',
    `spec: {targetRefs: [{kind: Service, name: a}], ${yaml}}`,
  );
  const parsed = parseCacheSettings(spec);
  if ('problem' in parsed) throw new Error(parsed.problem);
  return parsed.settings;
};

describe('parseCacheSettings', () => {
  it('reads every field that is honoured', () => {
    expect(
      parse(
        'handler: proxycache, cacheName: c, negativeCacheName: n, maxTTL: 1h30m, timeout: 500ms, collapsedForwarding: progressive, cacheKeyParams: [b, a], cacheKeyHeaders: [X-B, accept, ACCEPT], requestHeaders: {+B: c, A: b, -C: ""}, responseHeaders: {}, resultHeader: Hide, healthMode: provider, loadBalancing: rr, sticky: none',
      ),
    ).to.deep.equal({
      handler: 'proxycache',
      cacheName: 'c',
      negativeCacheName: 'n',
      maxTtlMs: 5_400_000,
      timeoutMs: 500,
      collapsedForwarding: 'progressive',
      keyParams: ['a', 'b'],
      keyHeaders: ['accept', 'x-b'],
      requestHeaders: [
        { operation: 'set', name: 'A', value: 'b' },
        { operation: 'append', name: 'B', value: 'c' },
        { operation: 'remove', name: 'C' },
      ],
      responseHeaders: [],
      resultHeader: 'hide',
    });
  });

  for (const [yaml, problem] of [
    ['provider: prometheus', 'spec.provider is not supported'],
    ['cors: {mode: merge}', 'spec.cors is not supported'],
    ['healthMode: probe', 'spec.healthMode: "probe" is not supported, only provider'],
    ['sticky: cookie', 'spec.sticky: "cookie" is not supported, only none'],
    ['stickyTTL: 5s', 'spec.stickyTTL is not supported'],
    ['cacheKeyHeaders: ["a b"]', 'spec.cacheKeyHeaders: "a b" is no header name'],
    ['requestHeaders: {A: "x\\ny"}', 'spec.requestHeaders: the value of "A" has a control character'],
  ] as const) {
    it(`refuses ${yaml}`, () => {
      expect(() => parse(yaml)).to.throw(problem);
    });
  }
});

describe('mergeCacheSettings', () => {
  const set = (name: string, value: string): HeaderChange => ({ operation: 'set', name, value });
  const append = (name: string, value: string): HeaderChange => ({ operation: 'append', name, value });
  const remove = (name: string): HeaderChange => ({ operation: 'remove', name });

  it('lets the more specific value win, and a list replace the whole list', () => {
    expect(
      mergeCacheSettings(
        { cacheName: 'a', maxTtlMs: 1, keyParams: ['a'], keyHeaders: ['b'] },
        { maxTtlMs: 2, keyParams: [] },
      ),
    ).to.deep.equal({ cacheName: 'a', maxTtlMs: 2, keyParams: [], keyHeaders: ['b'] });
  });

  const cases: readonly {
    name: string;
    base: HeaderChange;
    specific: HeaderChange;
    want: readonly HeaderChange[];
  }[] = [
    { name: 'set over set', base: set('X', '1'), specific: set('x', '2'), want: [set('x', '2')] },
    { name: 'append over set', base: set('X', '1'), specific: append('x', '2'), want: [set('X', '1, 2')] },
    {
      name: 'append over append',
      base: append('X', '1'),
      specific: append('X', '2'),
      want: [append('X', '1, 2')],
    },
    { name: 'append over remove', base: remove('X'), specific: append('X', '2'), want: [set('X', '2')] },
    { name: 'remove over append', base: append('X', '1'), specific: remove('x'), want: [remove('x')] },
    {
      name: 'other names',
      base: set('B', '1'),
      specific: set('a', '2'),
      want: [set('a', '2'), set('B', '1')],
    },
  ];
  for (const { name, base, specific, want } of cases) {
    it(`folds ${name}`, () => {
      expect(
        mergeCacheSettings({ requestHeaders: [base] }, { requestHeaders: [specific] }).requestHeaders,
      ).to.deep.equal(want);
    });
  }

  it('comes to the same as applying one after the other', () => {
    const change = fc.record({
      operation: fc.constantFrom('set' as const, 'append' as const, 'remove' as const),
      name: fc.constantFrom('A', 'a', 'B'),
      value: fc.constantFrom('1', '2'),
    });
    const changes = fc
      .uniqueArray(change, { selector: ({ name }) => name.toLowerCase() })
      .map((list) => list.map((one): HeaderChange => (one.operation === 'remove' ? remove(one.name) : one)));
    const apply = (
      headers: ReadonlyMap<string, string>,
      list: readonly HeaderChange[],
    ): Map<string, string> => {
      const result = new Map(headers);
      for (const { operation, name, value = '' } of list) {
        const key = name.toLowerCase();
        const before = result.get(key);
        if (operation === 'remove') result.delete(key);
        else result.set(key, operation === 'append' && before !== undefined ? `${before}, ${value}` : value);
      }
      return result;
    };
    fc.assert(
      fc.property(changes, changes, fc.boolean(), (base, specific, isThere) => {
        const headers = new Map(isThere ? [['a', '0']] : []);
        const merged = mergeCacheSettings({ requestHeaders: base }, { requestHeaders: specific });
        expect(apply(headers, merged.requestHeaders ?? [])).to.deep.equal(
          apply(apply(headers, base), specific),
        );
      }),
    );
  });
});

describe('toCachePolicy', () => {
  it('caches when a cache is named, unless the policy says otherwise', () => {
    expect(toCachePolicy({ cacheName: 'c' }).handler).to.equal('proxycache');
    expect(toCachePolicy({ cacheName: 'c', handler: 'proxy' }).handler).to.equal('proxy');
    expect(toCachePolicy({ maxTtlMs: 1 }).handler).to.equal('proxy');
  });

  it('gives equal settings one key, whatever the order of fields, and others another', () => {
    const one = toCachePolicy({ maxTtlMs: 1, cacheName: 'c' });
    expect(toCachePolicy({ cacheName: 'c', maxTtlMs: 1 }).key).to.equal(one.key);
    expect(toCachePolicy({ cacheName: 'c', maxTtlMs: 2 }).key).to.not.equal(one.key);
    expect(one.key).to.match(/^proxycache-[0-9a-z]{22}$/);
  });

  it('keeps keys apart', () => {
    const keys = Array.from({ length: 20_000 }, (_, maxTtlMs) => toCachePolicy({ maxTtlMs }).key);
    expect(new Set(keys).size).to.equal(keys.length);
  });
});
