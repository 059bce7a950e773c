import { expect } from 'chai';
import type { BodyWriter, CacheStore } from '../../../src/engine/cache/cache-store.js';
import type { StoredResponse } from '../../../src/engine/cache/stored-response.js';

/** A fresh 200 without fields. */
export function storedOf(key: string, length: number, rest: Partial<StoredResponse> = {}): StoredResponse {
  return {
    key,
    uri: `http://a.test/${key}`,
    status: 200,
    fields: [],
    length,
    terms: {
      lifetimeMs: 60_000,
      alwaysValidate: false,
      mustRevalidate: false,
      staleWhileRevalidateMs: 0,
      staleIfErrorMs: 0,
      negative: false,
      withheld: [],
    },
    ageAtArrivalMs: 0,
    arrivedAtMs: 0,
    dateMs: 0,
    etag: undefined,
    lastModified: undefined,
    selectors: [],
    ...rest,
  };
}

/** Stores a body in one run; undefined when there is no place. */
export function store(
  target: CacheStore,
  response: StoredResponse,
  body: string,
): StoredResponse | undefined {
  const writer = target.begin(response.key, Buffer.byteLength(body));
  if (!writer?.write(Buffer.from(body))) return undefined;
  writer.commit(response);
  return response;
}

/** What every store of the object cache has to do. */
export function describeCacheStore(
  name: string,
  create: (options: { maxSizeBytes: number; maxObjectBytes: number }) => CacheStore,
): void {
  describe(`cache store contract: ${name}`, () => {
    const MAX_OBJECT = 64 * 1024;
    const bodyOf = (target: CacheStore, response: StoredResponse): string | undefined => {
      const body = target.lease(response)?.toString();
      if (body !== undefined) target.release(response);
      return body;
    };
    const open = (maxSizeBytes = 1024 * 1024): CacheStore =>
      create({ maxSizeBytes, maxObjectBytes: MAX_OBJECT });

    it('gives back what was stored, newest variant first', () => {
      const target = open();
      const a = storedOf('k', 1, { selectors: [{ name: 'accept', value: 'a' }] });
      const b = storedOf('k', 2, { selectors: [{ name: 'accept', value: 'b' }] });
      store(target, a, 'A');
      store(target, b, 'BB');
      expect(target.lookup('k')).to.deep.equal([b, a]);
      expect(bodyOf(target, a)).to.equal('A');
      expect(bodyOf(target, b)).to.equal('BB');
      expect(target.lookup('other')).to.deep.equal([]);
      expect(target.statistics.objects).to.equal(2);
    });

    it('replaces the same variant', () => {
      const target = open();
      const [first, second] = [storedOf('k', 1), storedOf('k', 1)];
      store(target, first, '1');
      store(target, second, '2');
      expect(target.lookup('k')).to.deep.equal([second]);
      expect(bodyOf(target, second)).to.equal('2');
      expect(bodyOf(target, first)).to.equal(undefined);
    });

    it('C-17 shows nothing before it is whole, and nothing that is not', () => {
      const target = open();
      const known = target.begin('k', 4);
      known?.write(Buffer.from('ab'));
      expect(target.lookup('k')).to.deep.equal([]);
      known?.commit(storedOf('k', 4));
      expect(target.lookup('k'), 'fewer bytes than announced').to.deep.equal([]);
      const unknown = target.begin('k', undefined);
      unknown?.write(Buffer.from('ab'));
      unknown?.write(Buffer.from('cd'));
      unknown?.commit(storedOf('k', 4));
      const [stored] = target.lookup('k');
      expect(stored && bodyOf(target, stored)).to.equal('abcd');
      const discarded = target.begin('d', 1);
      discarded?.write(Buffer.from('x'));
      discarded?.discard();
      discarded?.commit(storedOf('d', 1));
      expect(target.lookup('d')).to.deep.equal([]);
      expect(discarded?.write(Buffer.from('x'))).to.equal(false);
    });

    it('copies what it is given', () => {
      const target = open();
      const bytes = Buffer.from('abc');
      for (const length of [3, undefined]) {
        const writer = target.begin('k', length);
        writer?.write(bytes);
        bytes.fill('x');
        writer?.commit(storedOf('k', 3));
        const [stored] = target.lookup('k');
        expect(stored && bodyOf(target, stored)).to.equal('abc');
        bytes.write('abc');
      }
    });

    it('takes empty bodies', () => {
      const target = open();
      for (const length of [0, undefined]) {
        target.begin(`e${length ?? ''}`, length)?.commit(storedOf(`e${length ?? ''}`, 0));
        const [stored] = target.lookup(`e${length ?? ''}`);
        expect(stored && bodyOf(target, stored)).to.equal('');
      }
    });

    it('refuses objects that are too large, at once or on the way', () => {
      const target = open();
      expect(target.begin('k', MAX_OBJECT + 1)).to.equal(undefined);
      const writer = target.begin('k', undefined);
      expect(writer?.write(Buffer.alloc(MAX_OBJECT))).to.equal(true);
      expect(writer?.write(Buffer.alloc(1))).to.equal(false);
      writer?.commit(storedOf('k', MAX_OBJECT + 1));
      expect(target.lookup('k')).to.deep.equal([]);
      expect(target.statistics.bytes, 'nothing is left behind').to.equal(0);
      const lying = target.begin('k', 1);
      expect(lying?.write(Buffer.alloc(2))).to.equal(false);
    });

    it('renews a description and keeps its body', () => {
      const target = open();
      const old = storedOf('k', 1);
      store(target, old, '1');
      const next = { ...old, arrivedAtMs: 5 };
      expect(target.replace(old, next)).to.equal(true);
      expect(target.lookup('k')).to.deep.equal([next]);
      expect(bodyOf(target, next)).to.equal('1');
      expect(target.replace(old, next)).to.equal(false);
    });

    it('forgets single variants and all of a URI', () => {
      const target = open();
      const of = (value: string): StoredResponse => storedOf('k', 1, { selectors: [{ name: 'a', value }] });
      const [a, b] = [of('a'), of('b')];
      const other = storedOf('other', 1, { uri: a.uri });
      const kept = storedOf('kept', 1);
      for (const response of [a, b, other, kept]) store(target, response, '1');
      target.remove(a);
      expect(target.lookup('k')).to.deep.equal([b]);
      target.invalidate(a.uri);
      expect(target.lookup('k')).to.deep.equal([]);
      expect(target.lookup('other')).to.deep.equal([]);
      expect(target.lookup('kept')).to.deep.equal([kept]);
      target.remove(a);
      target.invalidate('http://nobody.test/');
      expect(target.statistics.objects).to.equal(1);
    });

    it('never takes more than its budget, whatever happens', () => {
      const budget = 200_000;
      const target = open(budget);
      let seed = 42;
      const random = (below: number): number => {
        seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
        return seed % below;
      };
      const writers: { key: string; length: number; writer: BodyWriter }[] = [];
      const begin = (key: string, isKnown: boolean): void => {
        const length = random(30_000);
        const writer = target.begin(key, isKnown ? length : undefined);
        if (writer?.write(Buffer.alloc(length))) writers.push({ key, length, writer });
      };
      const actions: ((key: string) => void)[] = [
        (key) => {
          begin(key, true);
        },
        (key) => {
          begin(key, false);
        },
        (key) => {
          for (const stored of target.lookup(key)) target.lease(stored);
        },
        () => {
          for (const { writer } of writers.splice(random(writers.length + 1), 1)) writer.discard();
        },
        () => {
          const ending = writers.splice(random(writers.length + 1), 1);
          for (const { key, length, writer } of ending) writer.commit(storedOf(key, length));
        },
      ];
      for (let i = 0; i < 3_000; i++) {
        actions[random(actions.length)]?.(`k${random(400)}`);
        expect(target.statistics.bytes).to.be.within(0, budget);
      }
      expect(target.statistics.evictions).to.be.greaterThan(10);
      for (const { writer } of writers) writer.discard();
      for (let i = 0; i < 400; i++) target.invalidate(`http://a.test/k${i}`);
      expect(target.statistics).to.include({ objects: 0, bytes: 0 });
    });
  });
}
