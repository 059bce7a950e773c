import { expect } from 'chai';
import fc from 'fast-check';
import { toCandidate } from '../../../../src/engine/routing/candidate.js';
import { PathTable } from '../../../../src/engine/routing/path-table.js';
import { PrefixSet, PrefixSets } from '../../../../src/engine/routing/prefix-set.js';
import { VirtualHosts } from '../../../../src/engine/routing/virtual-hosts.js';
import type { HttpMatch } from '../../../../src/ir/http.js';
import { matchOf, requestOf, routeOf } from '../../../support/engine/routing-fixture.js';

const HOSTS = ['', '*.test', '*.a.test', 'a.test', 'b.a.test'];
const NAMES = ['a.test', 'b.a.test', 'c.a.test', 'b.test', 'other'];
const PATHS = ['', '/a', '/a/b', '/b', '/a/.*', '/1', '/2', '/3', '/4', '/5', '/6', '/7'];
const TARGETS = ['/', '/a', '/a/', '/a/b/c', '/ab', '/b?a=b', '/7/x', '/a/x', '*'];

const anyMatch: fc.Arbitrary<HttpMatch> = fc
  .record({
    type: fc.constantFrom('exact', 'prefix', 'prefix', 'regex'),
    value: fc.constantFrom(...PATHS),
    method: fc.constantFrom(undefined, undefined, 'POST'),
  })
  .map(({ type, value, method }) => matchOf({ path: { type, value }, ...(method && { method }) }));

describe('VirtualHosts', () => {
  it('answers what the table of the most specific host answers', () => {
    const hosts = fc.uniqueArray(fc.tuple(fc.constantFrom(...HOSTS), fc.array(anyMatch, { maxLength: 12 })), {
      selector: ([hostname]) => hostname,
    });
    const sets = new PrefixSets();
    fc.assert(
      fc.property(hosts, fc.constantFrom('GET', 'POST'), (drawn, method) => {
        const virtualHosts = new VirtualHosts(
          drawn.map(([hostname, matches]) => {
            const route = routeOf(hostname, [matches]);
            const candidates = matches.map((match, matchIndex) =>
              toCandidate(hostname, { route, rule: route.rules[0]!, match, matchIndex }),
            );
            return {
              virtualHost: { key: hostname, hostname, routes: [route.key] },
              paths: new PathTable(candidates, sets),
            };
          }),
        );
        for (const authority of NAMES) {
          for (const target of TARGETS) {
            const request = requestOf({ authority, target, method });
            const found = virtualHosts.match(request);
            expect(found).to.equal(virtualHosts.find(authority)?.paths.match(request));
          }
        }
      }),
    );
  });
});

describe('PrefixSets', () => {
  it('gives equal prefixes the same set, and others another', () => {
    const sets = new PrefixSets();
    expect(sets.of(['/a/b', '/a'])).to.equal(sets.of(['/a/b', '/a']));
    expect(sets.of(['/a/b', '/a'])).to.not.equal(sets.of(['/a/b']));
    expect(sets.of(['/a","/b'])).to.not.equal(sets.of(['/a', '/b']));
  });

  it('is right after it has forgotten', () => {
    const sets = new PrefixSets();
    for (let i = 0; i < 3_000; i++) expect(sets.of([`/${String(i)}`]).longest(`/${String(i)}/x`)).to.equal(0);
  });
});

describe('PrefixSet', () => {
  it('finds the longest prefix and then each shorter one, however many there are', () => {
    const element = fc.constantFrom('a', 'b', 'ab');
    const prefix = fc
      .array(element, { maxLength: 3 })
      .map((elements) => elements.map((e) => `/${e}`).join(''));
    fc.assert(
      fc.property(fc.uniqueArray(prefix, { maxLength: 20 }), prefix, (drawn, path) => {
        const prefixes = drawn.toSorted((a, b) => b.length - a.length);
        const set = new PrefixSet(prefixes);
        const found: string[] = [];
        for (let at = set.longest(`${path}/`); at >= 0; at = set.shorter(at)) found.push(prefixes[at]!);
        expect(found).to.deep.equal(prefixes.filter((each) => `${path}/`.startsWith(`${each}/`)));
      }),
    );
  });
});
