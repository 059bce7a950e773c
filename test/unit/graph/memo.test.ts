import { expect } from 'chai';
import fc from 'fast-check';

import { renew, type Tables } from '../../../src/graph/lookup.js';
import { keepEqual, Memo, PassCache } from '../../../src/graph/memo.js';

describe('Memo', () => {
  it('computes again only for other inputs', () => {
    const memo = new Memo<{ readonly n: number }>();
    const input = {};
    let runs = 0;
    const compute = () => ({ n: ++runs });
    const first = memo.get('a', [input], compute);
    memo.endPass();
    expect(memo.get('a', [input], compute)).to.equal(first);
    expect(memo.get('a', [{}], compute)).to.deep.equal({ n: 2 });
    expect(memo.get('a', [{}, 1], compute)).to.deep.equal({ n: 3 });
  });

  it('forgets what was not asked for during a pass', () => {
    const cache = new PassCache<object>();
    const entry = {};
    cache.set('a', entry);
    cache.set('b', {});
    cache.endPass();
    expect(cache.find('a')).to.equal(entry);
    cache.endPass();
    expect(cache.find('b')).to.equal(undefined);
    expect(cache.find('a')).to.equal(entry);
  });
});

describe('PassCache', () => {
  it('finds what a map would, in whatever order it is asked', () => {
    const key = fc.constantFrom('a', 'b', 'c', 'd');
    const step = fc.record({ key, isSet: fc.boolean() });
    fc.assert(
      fc.property(fc.array(fc.array(step, { maxLength: 8 }), { maxLength: 6 }), (passes) => {
        const cache = new PassCache<object>();
        let model = new Map<string, object>();
        for (const steps of passes) {
          const asked = new Map<string, object>();
          for (const { key, isSet } of steps) {
            const known = cache.find(key);
            expect(known).to.equal(model.get(key));
            const entry = isSet ? {} : known;
            if (!entry) continue;
            if (isSet) cache.set(key, entry);
            model.set(key, entry);
            asked.set(key, entry);
          }
          cache.endPass();
          model = asked;
        }
      }),
    );
  });
});

describe('keepEqual', () => {
  it('keeps equal parts and takes the others', () => {
    const before = { a: { b: [1, 2] }, c: { d: 1 }, e: 'x' };
    const after = { a: { b: [1, 2] }, c: { d: 2 }, e: 'x' };
    const kept = keepEqual(before, after);
    expect(kept).to.deep.equal(after);
    expect(kept.a).to.equal(before.a);
    expect(keepEqual(before, structuredClone(before))).to.equal(before);
  });

  it('Z-01 keeps what only moved, and gives nothing of it to what came in its place', () => {
    const [a, b] = [
      { key: 'a', routes: ['r'] },
      { key: 'b', routes: ['r'] },
    ];
    const added = { key: 'c', routes: ['r'] };
    const kept = keepEqual([a, b], [added, a, b]);
    expect(kept[0]).to.equal(added);
    expect(kept[1]).to.equal(a);
    expect(kept[2]).to.equal(b);
  });

  it('equals the new value whatever the old one was', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (before, after) => {
        expect(keepEqual<unknown>(before, after)).to.deep.equal(after);
      }),
      { examples: [[{}, JSON.parse('{"__proto__":null}') as fc.JsonValue]] },
    );
  });

  it('knows only names of the objects themselves', () => {
    const named = JSON.parse('{"__proto__": {"a": 1}, "toString": "x"}') as object;
    const kept = keepEqual<object>({ e: 1, f: 2 }, named);
    expect(Object.entries(kept)).to.deep.equal(Object.entries(named));
    expect(Object.getPrototypeOf(kept)).to.equal(Object.prototype);
    const again = structuredClone(named);
    expect(Object.keys(again)).to.deep.equal(Object.keys(named));
    expect(keepEqual<object>(kept, again)).to.equal(kept);
  });

  it('tells a name without a value from another one', () => {
    const after = { b: undefined };
    expect(Object.keys(keepEqual<object>({ a: undefined }, after))).to.deep.equal(['b']);
  });

  it('does not look into instances', () => {
    const after = new Map([['a', 1]]);
    expect(keepEqual<unknown>(new Map([['a', 1]]), after)).to.equal(after);
  });
});

describe('renew', () => {
  interface Rows {
    readonly services: { readonly port: number };
  }
  const tables = (port: number | undefined): Tables<Rows> => ({
    services: new Map(port === undefined ? [] : [['a', { port }]]),
  });
  const compute = (lookup: { find: (table: 'services', key: string) => { port: number } | undefined }) => ({
    port: lookup.find('services', 'a')?.port ?? 0,
  });

  it('knows what a result was made from', () => {
    const same = tables(1);
    const first = renew<Rows, { port: number }>(undefined, ['x'], same, compute);
    expect(renew(first, ['x'], same, compute)).to.equal(first);
    expect(renew(first, ['y'], same, compute)).not.to.equal(first);
    expect(renew(first, ['x'], tables(2), compute).result).to.deep.equal({ port: 2 });
  });

  it('also when what it asked for was not there', () => {
    const first = renew<Rows, { port: number }>(undefined, [], tables(undefined), compute);
    expect(renew(first, [], tables(undefined), compute)).to.equal(first);
    expect(renew(first, [], tables(3), compute).result).to.deep.equal({ port: 3 });
  });
});
