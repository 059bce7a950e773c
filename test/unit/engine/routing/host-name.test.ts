import { expect } from 'chai';
import { normalizeHost } from '../../../../src/engine/routing/host-name.js';
import { HostTable } from '../../../../src/engine/routing/host-table.js';

describe('normalizeHost', () => {
  const cases: readonly (readonly [authority: string, host: string])[] = [
    ['a.test', 'a.test'],
    ['A.Test', 'a.test'],
    ['a.test:8080', 'a.test'],
    ['a.test.', 'a.test'],
    ['A.test.:443', 'a.test'],
    ['127.0.0.1:80', '127.0.0.1'],
    ['[2001:DB8::1]:80', '[2001:db8::1]'],
    ['[::1]', '[::1]'],
    ['[::1', '[::1'],
    ['a_b.test', 'a_b.test'],
    ['', ''],
  ];
  for (const [authority, host] of cases) {
    it(`A-08 ignores case, port and root dot: '${authority}'`, () => {
      expect(normalizeHost(authority)).to.equal(host);
    });
  }
});

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
