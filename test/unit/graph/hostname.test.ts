import { expect } from 'chai';
import fc from 'fast-check';

import { coversHostname, hostnameChain, intersectHostnames } from '../../../src/graph/hostname.js';

const label = fc.constantFrom('a', 'b', 'c');
const name = fc.array(label, { minLength: 1, maxLength: 3 }).map((labels) => labels.join('.'));
const hostname = fc.oneof(
  fc.constant(''),
  name,
  name.map((suffix) => `*.${suffix}`),
);

/** What a person would say a hostname matches. */
function matches(pattern: string, host: string): boolean {
  if (pattern === '') return true;
  if (!pattern.startsWith('*.')) return pattern === host;
  return host.endsWith(pattern.slice(1)) && host.length > pattern.length - 1;
}

describe('hostname', () => {
  const cases: readonly (readonly [string, string, string | undefined])[] = [
    ['', '', ''],
    ['', 'a.test', 'a.test'],
    ['*.example.test', 'a.example.test', 'a.example.test'],
    ['*.example.test', 'x.y.example.test', 'x.y.example.test'],
    ['*.example.test', 'example.test', undefined],
    ['*.example.test', '*.deep.example.test', '*.deep.example.test'],
    ['*.example.test', '*.test', '*.example.test'],
    ['*.example.test', 'badexample.test', undefined],
    ['*.a.test', '*.b.test', undefined],
  ];
  for (const [a, b, common] of cases) {
    it(`A-03, A-05 "${a}" and "${b}" have ${common === undefined ? 'nothing' : `"${common}"`} in common`, () => {
      expect(intersectHostnames(a, b)).to.equal(common);
    });
  }

  it('intersects without regard to order, and with itself to itself', () => {
    fc.assert(
      fc.property(hostname, hostname, (a, b) => {
        expect(intersectHostnames(a, b)).to.equal(intersectHostnames(b, a));
        expect(intersectHostnames(a, a)).to.equal(a);
      }),
    );
  });

  it('has in common exactly the hosts that both match', () => {
    fc.assert(
      fc.property(hostname, hostname, name, (a, b, host) => {
        const common = intersectHostnames(a, b);
        const expected = matches(a, host) && matches(b, host);
        expect(common !== undefined && matches(common, host)).to.equal(expected);
      }),
    );
  });

  it('lists in its chain what covers it, most specific first', () => {
    expect(hostnameChain('a.b.test')).to.deep.equal(['a.b.test', '*.b.test', '*.test', '']);
    expect(hostnameChain('*.b.test')).to.deep.equal(['*.b.test', '*.test', '']);
    expect(hostnameChain('')).to.deep.equal(['']);
    fc.assert(
      fc.property(hostname, hostname, (outer, inner) => {
        expect(hostnameChain(inner).includes(outer)).to.equal(coversHostname(outer, inner));
      }),
    );
  });
});
