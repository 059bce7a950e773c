import { expect } from 'chai';
import { queryParam } from '../../../../src/engine/routing/query-string.js';

describe('queryParam', () => {
  const cases: readonly (readonly [query: string, name: string, value: string | undefined])[] = [
    ['a=1&a=2', 'a', '1'],
    ['A=1', 'a', undefined],
    ['a=', 'a', ''],
    ['a', 'a', ''],
    ['a=%31', 'a', '1'],
    ['a=%2531', 'a', '%31'],
    ['a=1;b=2', 'b', undefined],
    ['a=1;b=2', 'a', '1;b=2'],
    ['%61=x', 'a', 'x'],
    ['b=1&a=x+y', 'a', 'x y'],
    ['a+b=1', 'a b', '1'],
    ['a+b=1', 'a+b', undefined],
    ['a=b=c', 'a', 'b=c'],
    ['aa=1&a=2', 'a', '2'],
    ['a=%zz', 'a', '%zz'],
    ['a=%ff', 'a', '%ff'],
    ['', 'a', undefined],
    ['&&a=1', 'a', '1'],
    ['=1', '', '1'],
    ['b&a=2', 'a', '2'],
  ];
  for (const [query, name, value] of cases) {
    it(`M-09 ${name} of '${query}' is ${value ?? 'absent'}`, () => {
      expect(queryParam(`/p?${query}`, name, 3)).to.equal(value);
    });
  }
});
