import { expect } from 'chai';
import { backendOf, CacheHarness, START } from '../../../support/engine/cache-harness.js';
import { type FakeExchange, trickResultOf } from '../../../support/engine/fake-exchange.js';

const FRESH = { 'cache-control': 'max-age=60' };

describe('ObjectCache', () => {
  let harness: CacheHarness;
  beforeEach(() => {
    harness = new CacheHarness();
  });

  it('misses, then hits with Age, Cache-Status and X-Trickster-Result', () => {
    const miss = harness.ask({}, { headers: { ...FRESH, 'x-y': '1' }, body: 'hello' });
    expect(miss.body).to.equal('hello');
    expect(miss.sent).to.include({
      'x-trickster-result': 'engine=ObjectProxyCache; status=kmiss',
      'cache-status': 'trickster-gateway; fwd=uri-miss; fwd-status=200; stored',
    });
    expect(miss.cacheResult).to.equal('kmiss');
    harness.pass(10_000);
    const hit = harness.send();
    expect(hit.body).to.equal('hello');
    expect(hit.ended).to.equal(true);
    expect(hit.sent).to.deep.equal({
      date: new Date(START).toUTCString(),
      'cache-control': 'max-age=60',
      'x-y': '1',
      age: '10',
      'cache-status': 'trickster-gateway; hit; ttl=50',
      'x-trickster-result': 'engine=ObjectProxyCache; status=hit',
      'content-length': '5',
      via: '1.1 trickster-gateway',
    });
    expect(hit.cacheResult).to.equal('hit');
    expect(harness.fetches).to.equal(1);
    harness.pass(1_000);
    expect(harness.send().sent['age'], 'every second anew').to.equal('11');
  });

  it('hides the result header when the policy says so', () => {
    harness = new CacheHarness({ policy: { resultHeader: 'hide' } });
    expect(harness.ask({}, { headers: FRESH }).sent).to.not.have.property('x-trickster-result');
    const hit = harness.send();
    expect(hit.sent).to.not.have.property('x-trickster-result');
    expect(hit.cacheResult).to.equal('hit');
  });

  it('drops a result header that the origin sent', () => {
    const headers = { ...FRESH, 'x-trickster-result': 'engine=Evil' };
    expect(harness.ask({}, { headers }).sent['x-trickster-result']).to.match(/kmiss/);
    expect(harness.send().sent['x-trickster-result']).to.equal('engine=ObjectProxyCache; status=hit');
  });

  describe('the key', () => {
    const isShared = (a: object, b: object, policy = {}): boolean => {
      harness = new CacheHarness({ policy });
      harness.ask(a, { headers: FRESH });
      harness.send(b);
      return harness.fetches === 1;
    };

    it('is the whole query by default', () => {
      expect(isShared({ target: '/p?a=1' }, { target: '/p?a=1' })).to.equal(true);
      expect(isShared({ target: '/p?a=1' }, { target: '/p?a=2' })).to.equal(false);
      expect(isShared({ target: '/p' }, { target: '/p?' })).to.equal(false);
      expect(isShared({ target: '/p?a=1' }, { target: '/p?a=2' }, { keyParams: ['*'] })).to.equal(false);
    });

    it('is only the parameters that the policy names', () => {
      const keyParams = ['a', 'b'];
      expect(isShared({ target: '/p?a=1&x=1' }, { target: '/p?x=2&a=1' }, { keyParams })).to.equal(true);
      expect(isShared({ target: '/p?b=2&a=1' }, { target: '/p?a=1&b=2' }, { keyParams })).to.equal(true);
      expect(isShared({ target: '/p?a=1' }, { target: '/p?a=2' }, { keyParams })).to.equal(false);
      expect(isShared({ target: '/p?a=1&a=2' }, { target: '/p?a=1' }, { keyParams })).to.equal(false);
      expect(isShared({ target: '/p?x=1' }, { target: '/p' }, { keyParams: [] })).to.equal(true);
      // Joined without lengths these would be one (3.B 2).
      expect(isShared({ target: '/p?a=1.b.2' }, { target: '/p?a=1&b=2' }, { keyParams })).to.equal(false);
    });

    it('has the host, the headers of the policy and nothing of other paths', () => {
      expect(isShared({ authority: 'A.test' }, { authority: 'a.test' })).to.equal(true);
      expect(isShared({ authority: 'a.test' }, { authority: 'b.test' })).to.equal(false);
      expect(isShared({ target: '/a' }, { target: '/b' })).to.equal(false);
      const keyHeaders = ['x-tenant'];
      const of = (value: string): object => ({ headers: { 'x-tenant': value } });
      expect(isShared(of('1'), of('1'), { keyHeaders })).to.equal(true);
      expect(isShared(of('1'), of('2'), { keyHeaders })).to.equal(false);
      expect(isShared(of(''), {}, { keyHeaders })).to.equal(false);
    });

    it('C-21 is of one backend and one variation of headers; a new lifetime counts at once', () => {
      harness.send({}, backendOf({ maxTtlMs: 60_000 }));
      harness.reply({ headers: FRESH });
      harness.pass(5_000);
      harness.send({}, backendOf({ maxTtlMs: 10_000 }));
      expect(harness.fetches, 'the same object').to.equal(1);
      harness.send({}, backendOf({ maxTtlMs: 1_000 }));
      expect(harness.fetches, 'too old now').to.equal(2);
      harness.send({}, backendOf({}, 'Service/ns/b/80'));
      harness.send({}, backendOf({ responseHeaders: [{ operation: 'set', name: 'x', value: '1' }] }));
      expect(harness.fetches).to.equal(4);
    });
  });

  it("applies the policy's response headers before it decides", () => {
    harness = new CacheHarness({
      policy: {
        responseHeaders: [
          { operation: 'remove', name: 'Set-Cookie' },
          { operation: 'set', name: 'Cache-Control', value: 'max-age=9' },
        ],
      },
    });
    const miss = harness.ask({}, { headers: { 'set-cookie': 'a', 'cache-control': 'no-store' } });
    expect(miss.sent).to.include({ 'cache-control': 'max-age=9' }).and.not.have.property('set-cookie');
    expect(trickResultOf(harness.send())).to.equal('hit');
  });

  it('C-01 C-02 does not share what is for one client', () => {
    harness.ask({ headers: { authorization: 'one' } }, { headers: FRESH });
    harness.ask({}, { headers: { ...FRESH, 'set-cookie': 'sid=1' } });
    harness.ask({}, { headers: { 'cache-control': 'private, max-age=60' } });
    expect(harness.fetches).to.equal(3);
    expect(harness.store.statistics.objects).to.equal(0);
    harness.ask(
      { headers: { authorization: 'one' } },
      { headers: { 'cache-control': 'public, max-age=60' } },
    );
    expect(trickResultOf(harness.send({ headers: { authorization: 'two' } }))).to.equal('hit');
    expect(trickResultOf(harness.send())).to.equal('hit');
  });

  it('C-02 stores the rest when a field is withheld, and sends it once', () => {
    const headers = { 'cache-control': 'max-age=60, private="set-cookie"', 'set-cookie': 'sid=1' };
    expect(harness.ask({}, { headers }).sent).to.include({ 'set-cookie': 'sid=1' });
    const hit = harness.send();
    expect(trickResultOf(hit)).to.equal('hit');
    expect(hit.sent).to.not.have.property('set-cookie');
  });

  it('keeps all variants of a response that varies', () => {
    const ask = (accept: string | undefined, body: string): FakeExchange =>
      harness.ask(accept === undefined ? {} : { headers: { accept } }, {
        headers: { ...FRESH, vary: 'Accept' },
        body,
      });
    expect(ask('a', 'A').body).to.equal('A');
    const second = ask('b', 'B');
    expect(second.sent['cache-status']).to.match(/fwd=vary-miss/);
    expect(ask(undefined, 'none').body).to.equal('none');
    expect([ask('a', '-').body, ask('b', '-').body, ask(undefined, '-').body]).to.deep.equal([
      'A',
      'B',
      'none',
    ]);
    expect(ask('a,b', 'AB').body).to.equal('AB');
    expect(ask('a , b', '-').body, 'white space between members means nothing').to.equal('AB');
    expect(harness.fetches).to.equal(4);
  });

  it('C-15 stores answers of the negative cache and no error of the gateway', () => {
    harness = new CacheHarness({
      policy: { negativeCacheName: 'short' },
      negativeCaches: new Map([
        [
          'short',
          new Map([
            [404, 3_000],
            [502, 3_000],
          ]),
        ],
      ]),
    });
    harness.ask({}, { breaks: 'before' });
    expect(harness.store.statistics.objects).to.equal(0);
    harness.ask({}, { status: 404, body: 'gone' });
    const hit = harness.send();
    expect(hit.status).to.equal(404);
    expect(trickResultOf(hit)).to.equal('nchit');
    harness.pass(3_000);
    harness.ask({}, { status: 200, headers: FRESH });
    expect(trickResultOf(harness.send())).to.equal('hit');
  });

  it('C-17 stores no truncated body and none that is too large', () => {
    harness = new CacheHarness({ maxObjectBytes: 100 });
    harness.ask({}, { headers: FRESH, body: 'hello', breaks: 'within' });
    harness.ask({}, { headers: { ...FRESH, 'x-chunked': '1' }, body: 'hello', breaks: 'within' });
    const large = harness.ask({}, { headers: FRESH, body: 'x'.repeat(101) });
    expect(large.body.length).to.equal(101);
    expect(large.sent['cache-status']).to.match(/detail=size/);
    const chunked = harness.ask({}, { headers: { ...FRESH, 'x-chunked': '1' }, body: 'x'.repeat(101) });
    expect(chunked.body.length).to.equal(101);
    expect(harness.store.statistics.objects).to.equal(0);
    harness.ask({}, { headers: { ...FRESH, 'x-chunked': '1' }, body: 'x'.repeat(100) });
    const hit = harness.send();
    expect(hit.body.length).to.equal(100);
    expect(hit.sent['content-length']).to.equal('100');
  });

  it('adds a missing Date and reads Age of the caches before it (C-12)', () => {
    const headers = { ...FRESH, age: '30', 'cache-status': 'other; hit' };
    const miss = harness.ask({}, { headers });
    expect(miss.sent['cache-status']).to.equal(
      'other; hit | trickster-gateway; fwd=uri-miss; fwd-status=200; stored',
    );
    harness.pass(10_000);
    expect(harness.send().sent['age']).to.equal('40');
    harness.pass(20_000);
    harness.send();
    expect(harness.pending.length).to.equal(1);
  });

  it('is not concerned without a policy, for upgrades, or when its cache is unknown', () => {
    const backend = backendOf({ handler: 'proxy' });
    expect(() => harness.send({}, backend)).to.not.throw();
    expect(harness.pending.length).to.equal(0);
    harness.send({}, backendOf({ cacheName: 'nowhere' }));
    expect(harness.reply({ headers: FRESH }).exchange.sent['cache-status']).to.match(/fwd=bypass/);
    expect(harness.store.statistics.objects).to.equal(0);
  });
});
