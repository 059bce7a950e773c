import { expect } from 'chai';
import fc from 'fast-check';
import { CacheKeys } from '../../../../src/engine/cache/cache-key.js';
import { FakeExchange } from '../../../support/engine/fake-exchange.js';

const WHOLE_URL = { keyHeaders: [] };

function exchangeOf(authority: string, path: string): FakeExchange {
  return new FakeExchange({ authority, target: path });
}

describe('CacheKeys', () => {
  const authority = fc.constantFrom('a.test', 'A.test', 'b.test', 'b.test:80');
  const path = fc.constantFrom('/', '/a', '/a?b', '/a?b=1', `/${'x'.repeat(255)}`, `/${'x'.repeat(256)}`);

  it('makes the key that it would make without having made others', () => {
    const keys = new CacheKeys('owner', WHOLE_URL);
    const owners = new Map<string, string>();
    fc.assert(
      fc.property(fc.array(fc.tuple(authority, path), { maxLength: 12 }), (asked) => {
        for (const [host, target] of asked) {
          const key = keys.of(exchangeOf(host, target));
          expect(key).to.equal(new CacheKeys('owner', WHOLE_URL).of(exchangeOf(host, target)));
          const uri = `${host.toLowerCase()}${target}`;
          expect(owners.get(key) ?? uri).to.equal(uri);
          owners.set(key, uri);
        }
      }),
    );
  });

  it('goes on telling paths apart when it has seen more than it keeps', () => {
    const keys = new CacheKeys('owner', WHOLE_URL);
    const made = new Set<string>();
    for (let i = 0; i < 3000; i++) made.add(keys.of(exchangeOf('a.test', `/${i}`)));
    expect(made.size).to.equal(3000);
    for (let i = 0; i < 3000; i++) expect(made.has(keys.of(exchangeOf('a.test', `/${i}`)))).to.equal(true);
  });

  it('knows a path that a filter has changed from one that it has not', () => {
    const keys = new CacheKeys('owner', WHOLE_URL);
    const plain = keys.of(exchangeOf('a.test', '/a'));
    const changed = exchangeOf('a.test', '/a');
    changed.request.path = '/b';
    expect(keys.of(changed)).not.to.equal(plain);
    expect(keys.of(exchangeOf('a.test', '/a'))).to.equal(plain);
  });
});
