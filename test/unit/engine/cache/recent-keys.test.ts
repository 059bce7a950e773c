import { expect } from 'chai';
import { RecentKeys } from '../../../../src/engine/cache/recent-keys.js';

describe('recent keys', () => {
  it('are forgotten when their time is over, and renewed when they are added again', () => {
    const keys = new RecentKeys(100);
    keys.add('a', 0);
    keys.add('b', 0);
    keys.add('a', 50);
    expect([keys.has('a', 99), keys.has('b', 99), keys.has('c', 99)]).to.deep.equal([true, true, false]);
    expect([keys.has('a', 100), keys.has('b', 100)]).to.deep.equal([true, false]);
    // What was forgotten does not come back, whatever the clock says.
    expect(keys.has('b', 0)).to.equal(false);
  });

  it('are 4096 at most: the oldest go first', () => {
    const keys = new RecentKeys(100);
    for (let i = 0; i < 4097; i++) keys.add(`k${i}`, 0);
    expect([keys.has('k0', 1), keys.has('k1', 1), keys.has('k4096', 1)]).to.deep.equal([false, true, true]);
  });
});
