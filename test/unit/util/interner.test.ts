import { expect } from 'chai';
import fc from 'fast-check';

import { Interner } from '../../../src/util/interner.js';

describe('Interner', () => {
  it('gives equal values one object', () => {
    const interner = new Interner();
    const first = interner.of([{ path: '/a' }]);
    expect(interner.of([{ path: '/a' }])).to.equal(first);
    expect(interner.of([{ path: '/b' }])).to.not.equal(first);
  });

  it('gives equal parts of different values one object', () => {
    const interner = new Interner();
    const a = interner.of({ index: 0, matches: [{ path: '/a' }] });
    const b = interner.of({ index: 1, matches: [{ path: '/a' }] });
    expect(b).to.not.equal(a);
    expect(b.matches).to.equal(a.matches);
  });

  it('interns the fields of an object that is like no other', () => {
    const interner = new Interner();
    const a = interner.parts({ hostnames: ['a'], rules: [{ path: '/' }] });
    const b = interner.parts({ hostnames: ['b'], rules: [{ path: '/' }] });
    expect(b).to.deep.equal({ hostnames: ['b'], rules: [{ path: '/' }] });
    expect(b.rules).to.equal(a.rules);
  });

  it('tells an object from a list and a number from its text', () => {
    const interner = new Interner();
    const values = [{}, [], [1], ['1'], { 0: 1 }, [null], [[]], ''];
    expect(values.map((value) => interner.of<unknown>(value))).to.deep.equal(values);
  });

  it('shares the parts of what is too long to be remembered', () => {
    const interner = new Interner();
    const long = (): object[] => Array.from({ length: 1000 }, (_, index) => ({ name: `item-${index}` }));
    const [a, b] = [interner.of(long()), interner.of(long())];
    expect(b).to.deep.equal(a);
    expect(b === a).to.equal(false);
    expect(b[999]).to.equal(a[999]);
  });

  it('keeps what is met again and again while much else passes, and is bounded', () => {
    const interner = new Interner();
    const common = interner.of({ path: '/common' });
    const rare = interner.of({ path: '/rare' });
    for (let i = 0; i < 10_000; i++) {
      interner.of({ path: `/${i}` });
      expect(interner.of({ path: '/common' })).to.equal(common);
    }
    const again = interner.of({ path: '/rare' });
    expect(again).to.deep.equal(rare);
    expect(again === rare).to.equal(false);
  });

  it('always equals what it was given', () => {
    const interner = new Interner();
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), (value) => {
        expect(interner.of<unknown>(value)).to.deep.equal(value);
      }),
    );
  });
});
