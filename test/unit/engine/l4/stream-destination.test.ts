import { expect } from 'chai';

import { StreamDestination } from '../../../../src/engine/l4/stream-destination.js';

const destination = (...backends: (readonly [number, string | undefined])[]): StreamDestination =>
  new StreamDestination({
    type: 'stream',
    backends: backends.map(([weight, upstream]) => ({
      weight,
      filters: [],
      ...(upstream === undefined
        ? { refusal: { status: 500, reason: 'no such Service' } as const }
        : { upstream }),
    })),
  });

describe('StreamDestination', () => {
  it('gives each backend exactly its share; a refusal too', () => {
    const { length } = 'abcdefghij';
    const each = destination([7, 'a'], [2, 'b'], [1, undefined], [0, 'c']);
    const chosen = Array.from({ length }, () => each.next());
    const count = (key: string | undefined): number => chosen.filter((one) => one === key).length;
    expect(['a', 'b', undefined, 'c'].map(count)).to.deep.equal([7, 2, 1, 0]);
  });

  it('has nothing to give without backends or weights', () => {
    expect(destination().next()).to.equal(undefined);
    expect(destination([0, 'a']).next()).to.equal(undefined);
  });

  it('includes what connections may go to', () => {
    const some = destination([1, 'a'], [0, 'b'], [1, undefined]);
    expect(['a', 'b', 'c'].map((key) => some.includes(key))).to.deep.equal([true, false, false]);
  });
});
