import { expect } from 'chai';
import fc from 'fast-check';

import { shareStructure } from '../../../src/util/share-structure.js';

describe('shareStructure', () => {
  it('gives the previous value when nothing changed, whatever the order of keys', () => {
    const previous = { a: [1, { b: 'x' }], c: null };
    expect(shareStructure(previous, { c: null, a: [1, { b: 'x' }] })).to.equal(previous);
  });

  it('keeps the parts that did not change', () => {
    const previous = { rules: [{ name: 'a' }, { name: 'b' }], hostnames: ['x'] };
    const next = shareStructure(previous, { rules: [{ name: 'a' }, { name: 'c' }], hostnames: ['x'] });
    expect(next).to.not.equal(previous);
    expect(next.rules[0]).to.equal(previous.rules[0]);
    expect(next.hostnames).to.equal(previous.hostnames);
  });

  it('tells a removed field from one that is undefined', () => {
    const previous = { a: 1, b: 2 };
    expect(shareStructure(previous, { a: 1 }))
      .to.deep.equal({ a: 1 })
      .and.not.equal(previous);
  });

  it('always equals the next value, and is the previous one exactly when both are equal', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), fc.jsonValue({ maxDepth: 4 }), (previous, next) => {
        expect(shareStructure<unknown>(previous, next)).to.deep.equal(next);
        const copy: unknown = JSON.parse(JSON.stringify(previous));
        expect(shareStructure<unknown>(previous, copy)).to.equal(previous);
      }),
    );
  });
});
