import { expect } from 'chai';
import fc from 'fast-check';

import { sameValue } from '../../../src/kube/same-value.js';

describe('kube/same-value', () => {
  it('agrees with JSON whose keys are sorted', () => {
    const print = (value: unknown): string =>
      JSON.stringify(value, (_key, part: unknown) =>
        typeof part === 'object' && part !== null && !Array.isArray(part)
          ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
          : part,
      );
    const json = fc.jsonValue({ maxDepth: 3 }).map((value): unknown => JSON.parse(JSON.stringify(value)));
    fc.assert(
      fc.property(json, json, (a, b) => {
        expect(sameValue(a, b)).to.equal(print(a) === print(b));
        expect(sameValue(a, structuredClone(a))).to.equal(true);
      }),
    );
  });

  it('takes an absent field and an undefined one for the same', () => {
    expect(sameValue({ a: 1, b: undefined }, { a: 1 })).to.equal(true);
    expect(sameValue({ a: 1, b: undefined }, { a: 1, c: 2 })).to.equal(false);
    expect(sameValue([1], { 0: 1 })).to.equal(false);
    expect(sameValue({ a: 1 }, null)).to.equal(false);
  });
});
