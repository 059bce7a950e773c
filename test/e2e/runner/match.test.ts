import { expect } from 'chai';

import { match } from './match.js';

const conditions = [
  { type: 'Accepted', status: 'True', reason: 'Accepted' },
  { type: 'ResolvedRefs', status: 'False', reason: 'BackendNotFound', message: 'Service ghost is missing' },
];

describe('match', () => {
  it('lets expected maps and lists be partial, in any order', () => {
    const expected = { conditions: [{ type: 'ResolvedRefs' }, { type: 'Accepted', status: 'True' }] };
    expect(match(expected, { conditions, more: 1 })).to.deep.equal([]);
  });

  it('compares with regular expressions', () => {
    expect(match({ message: '~ ghost .* missing$' }, conditions[1])).to.deep.equal([]);
    expect(match({ message: '~ ^ghost' }, conditions[1])).to.have.length(1);
  });

  it('names the element of the same type, not another one that is closer', () => {
    const [difference] = match(
      [{ type: 'Accepted', status: 'False', reason: 'BackendNotFound' }],
      conditions,
    );
    expect(difference).to.deep.include({ path: '[type=Accepted].status', expected: 'False', actual: 'True' });
    expect(difference?.within).to.equal(conditions[0]);
  });

  it('takes an empty list literally', () => {
    expect(match({ items: [] }, { items: [] })).to.deep.equal([]);
    expect(match({ items: [] }, { items: [1] })).to.have.length(1);
  });

  it('finds what is not there', () => {
    expect(match({ a: { b: 1 } }, {})).to.deep.equal([{ path: '.a', expected: { b: 1 }, actual: undefined }]);
    expect(match([{ type: 'Accepted' }], [])).to.have.length(1);
  });
});
