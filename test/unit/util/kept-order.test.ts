import { expect } from 'chai';
import fc from 'fast-check';

import { KeptOrder } from '../../../src/util/kept-order.js';

describe('KeptOrder', () => {
  const lists = fc.array(
    fc.uniqueArray(fc.record({ rank: fc.nat({ max: 40 }) }), { selector: ({ rank }) => rank }),
    { maxLength: 8 },
  );
  const byRank = (a: { readonly rank: number }, b: { readonly rank: number }): number => a.rank - b.rank;

  it('sorts one list after the other', () => {
    fc.assert(
      fc.property(lists, (sequence) => {
        const order = new KeptOrder(byRank);
        for (const list of sequence) expect(order.sort(list)).to.deep.equal(list.toSorted(byRank));
      }),
    );
  });

  it('sorts a list of which an element was replaced, is gone or has come', () => {
    const elements = Array.from({ length: 50 }, (_, index) => ({ rank: (index * 37) % 101 }));
    const edits = fc.array(fc.tuple(fc.nat({ max: 49 }), fc.nat({ max: 2 })), { maxLength: 12 });
    fc.assert(
      fc.property(edits, (sequence) => {
        const order = new KeptOrder(byRank);
        let list = elements;
        for (const [place, edit] of sequence) {
          const element = elements[place]!;
          const rest = list.filter(({ rank }) => rank !== element.rank);
          if (edit === 0) list = rest;
          else if (edit === 1) list = [...rest, { ...element }];
          else list = rest.toSpliced(place, 0, { ...element });
          expect(order.sort(list)).to.deep.equal(list.toSorted(byRank));
        }
      }),
    );
  });

  it('gives the same array while the elements are the same', () => {
    const order = new KeptOrder(byRank);
    const list = [{ rank: 2 }, { rank: 1 }];
    const sorted = order.sort(list);
    expect(order.sort([...list])).to.equal(sorted);
    expect(order.sort(list.toReversed())).to.equal(sorted);
  });
});
