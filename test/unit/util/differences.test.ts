import { expect } from 'chai';
import fc from 'fast-check';

import { changedKeys, listDifference } from '../../../src/util/differences.js';

const ELEMENTS = Array.from({ length: 8 }, (_, index) => ({ index }));
const list = fc.uniqueArray(fc.constantFrom(...ELEMENTS));
const table = fc
  .uniqueArray(fc.tuple(fc.constantFrom('a', 'b', 'c', 'd', 'e'), fc.constantFrom(undefined, ...ELEMENTS)), {
    selector: ([key]) => key,
  })
  .map((entries) => new Map(entries));

describe('listDifference', () => {
  it('gives what is in one list only', () => {
    fc.assert(
      fc.property(list, list, (before, after) => {
        const { removed, added } = listDifference(before, after);
        expect(removed).to.deep.equal(before.filter((one) => !after.includes(one)));
        expect(added).to.deep.equal(after.filter((one) => !before.includes(one)));
      }),
    );
  });
});

describe('changedKeys', () => {
  it('gives the keys that do not have the same value in both maps, whatever the order', () => {
    fc.assert(
      fc.property(table, table, (before, after) => {
        const keys = [...new Set([...before.keys(), ...after.keys()])];
        const expected = keys.filter(
          (key) => before.has(key) !== after.has(key) || before.get(key) !== after.get(key),
        );
        expect([...changedKeys(before, after)]).to.have.members(expected);
      }),
    );
  });
});
