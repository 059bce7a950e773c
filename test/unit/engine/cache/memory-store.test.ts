import { expect } from 'chai';
import { MemoryStore } from '../../../../src/engine/cache/memory-store.js';
import { describeCacheStore, store, storedOf } from '../../../support/engine/cache-store-contract.js';

describeCacheStore('memory', (options) => new MemoryStore(options));

describe('MemoryStore', () => {
  const KEPT = 20;
  /** Place for about a hundred objects of 1 KB. */
  const create = (): MemoryStore => new MemoryStore({ maxSizeBytes: 220_000, maxObjectBytes: 100_000 });
  const put = (target: MemoryStore, key: string): void => {
    store(target, storedOf(key, 1024), 'x'.repeat(1024));
  };
  const use = (target: MemoryStore, key: string): boolean => {
    const [stored] = target.lookup(key);
    if (stored) target.lease(stored);
    return stored !== undefined;
  };

  it('keeps what is used while a scan passes', () => {
    const target = create();
    for (let i = 0; i < KEPT; i++) put(target, `hot${i}`);
    for (let i = 0; i < 2_000; i++) {
      use(target, `hot${i % KEPT}`);
      put(target, `scan${i}`);
    }
    const kept = Array.from({ length: KEPT }, (_, i) => use(target, `hot${i}`)).filter(Boolean);
    expect(kept.length).to.equal(KEPT);
  });

  it('gives a key that comes back a better place', () => {
    const target = create();
    for (let i = 0; i < 200; i++) put(target, `once${i}`);
    expect(use(target, 'once0')).to.equal(false);
    put(target, 'once0');
    for (let i = 200; i < 280; i++) put(target, `once${i}`);
    expect(use(target, 'once0')).to.equal(true);
  });

  it('bounds the variants of one key', () => {
    const target = create();
    for (let i = 0; i < 40; i++) {
      store(target, storedOf('k', 1, { selectors: [{ name: 'user-agent', value: String(i) }] }), 'x');
    }
    const values = target.lookup('k').map(({ selectors }) => selectors[0]?.value);
    expect(values.length).to.equal(32);
    expect(values[0]).to.equal('39');
  });

  it('lets bodies being written take half of it at most', () => {
    const target = create();
    put(target, 'a');
    expect(target.begin('b', 100_000)).to.not.equal(undefined);
    expect(target.begin('c', 50_000)).to.equal(undefined);
    expect(use(target, 'a')).to.equal(true);
    const whole = new MemoryStore({ maxSizeBytes: 1_000, maxObjectBytes: 500 });
    store(whole, storedOf('k', 400), 'x'.repeat(400));
    expect(whole.lookup('k'), 'no place for the rest of the object').to.deep.equal([]);
  });
});
