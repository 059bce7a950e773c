import { expect } from 'chai';
import { HostTable } from '../../../../src/engine/routing/host-table.js';

describe('HostTable', () => {
  const names = ['', 'example.test', '*.example.test', '*.deep.example.test', 'a.deep.example.test'];
  const table = new HostTable(names.map((name) => [name, name] as const));
  const cases: readonly (readonly [host: string, found: string])[] = [
    ['a.deep.example.test', 'a.deep.example.test'],
    ['b.deep.example.test', '*.deep.example.test'],
    ['x.y.deep.example.test', '*.deep.example.test'],
    ['deep.example.test', '*.example.test'],
    ['x.y.example.test', '*.example.test'],
    ['example.test', 'example.test'],
    ['test', ''],
    ['.example.test', ''],
    ['', ''],
  ];
  for (const [host, found] of cases) {
    it(`A-03 finds the most specific name for '${host}'`, () => {
      expect(table.find(host)).to.equal(found);
    });
  }

  it('A-03 does not match the apex with a wildcard', () => {
    expect(new HostTable([['*.example.test', 1]]).find('example.test')).to.equal(undefined);
  });

  it('lists its values', () => {
    expect([...table.values()].sort()).to.deep.equal([...names].sort());
    expect([...new HostTable<number>([]).values()]).to.deep.equal([]);
  });
});
