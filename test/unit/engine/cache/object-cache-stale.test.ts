import { expect } from 'chai';
import { CacheHarness } from '../../../support/engine/cache-harness.js';
import { fieldsOf, type FakeExchange, trickResultOf } from '../../../support/engine/fake-exchange.js';

const FRESH = { 'cache-control': 'max-age=60' };

describe('ObjectCache: stale answers and other methods', () => {
  let harness: CacheHarness;
  beforeEach(() => {
    harness = new CacheHarness();
  });

  describe('RFC 5861', () => {
    const SWR = { 'cache-control': 'max-age=1, stale-while-revalidate=60', etag: '"a"' };

    it('serves stale while it revalidates behind, once', () => {
      harness.ask({}, { headers: SWR, body: 'old' });
      harness.pass(2_000);
      const [first, second] = [harness.send(), harness.send()];
      expect([first.body, second.body]).to.deep.equal(['old', 'old']);
      expect(first.sent['cache-status']).to.match(/hit; detail=stale-while-revalidate; ttl=-1/);
      expect(harness.pending.length).to.equal(1);
      expect(fieldsOf(harness.pending[0]!.asked.fields)).to.deep.equal({ 'if-none-match': '"a"' });
      harness.reply({ headers: SWR, body: 'new' });
      expect(harness.send().body).to.equal('new');
      harness.pass(2_000);
      harness.send();
      harness.reply({ status: 304, headers: { 'cache-control': 'max-age=9' } });
      harness.pass(5_000);
      expect(trickResultOf(harness.send())).to.equal('hit');
      expect(harness.fetches).to.equal(3);
    });

    it('survives a background fetch that fails', () => {
      harness.ask({}, { headers: SWR, body: 'old' });
      harness.pass(2_000);
      harness.send();
      harness.reply({ breaks: 'before' });
      expect(harness.send().body).to.equal('old');
      harness.reply({ status: 500 });
      expect(harness.send().body).to.equal('old');
      expect(harness.fetches).to.equal(4);
    });

    it('validates first when it cannot fetch behind', () => {
      harness = new CacheHarness({ hasBackground: false });
      harness.ask({}, { headers: SWR, body: 'old' });
      harness.pass(2_000);
      const exchange = harness.send();
      expect(exchange.head).to.equal(undefined);
      harness.reply({ status: 304 });
      expect(exchange.body).to.equal('old');
      expect(trickResultOf(exchange)).to.equal('rhit');
    });

    it('C-10 serves stale instead of errors that stale-if-error names', () => {
      const headers = { 'cache-control': 'max-age=1, stale-if-error=60', etag: '"a"' };
      harness.ask({}, { headers, body: 'old' });
      harness.pass(2_000);
      for (const answer of [
        { breaks: 'before' as const },
        { status: 500 },
        { status: 502 },
        { status: 503 },
        { status: 504 },
      ]) {
        const exchange = harness.ask({}, { ...answer, body: 'error' });
        expect(exchange.status).to.equal(200);
        expect(exchange.body).to.equal('old');
        expect(trickResultOf(exchange)).to.equal('hit');
      }
      expect(harness.ask({}, { status: 404 }).status).to.equal(404);
    });

    it('C-10 works without a validator, and not beyond its time', () => {
      harness.ask({}, { headers: { 'cache-control': 'max-age=1, stale-if-error=60' }, body: 'old' });
      harness.pass(2_000);
      expect(harness.ask({}, { status: 503 }).body).to.equal('old');
      harness.pass(60_000);
      expect(harness.ask({}, { status: 503 }).status).to.equal(503);
      expect(harness.ask({}, { breaks: 'before' }).refusedWith?.status).to.equal(502);
    });

    it('C-10 answers 504 for what must be revalidated and cannot be', () => {
      harness.ask({}, { headers: { 'cache-control': 'max-age=1, must-revalidate', etag: '"a"' } });
      harness.pass(2_000);
      expect(harness.ask({}, { breaks: 'before' }).refusedWith?.status).to.equal(504);
      expect(harness.ask({}, { status: 503 }).status).to.equal(503);
    });
  });

  describe('other methods', () => {
    it('pass, and invalidate every variant of their URI when they succeed', () => {
      const get = (accept: string): FakeExchange =>
        harness.ask({ headers: { accept } }, { headers: { ...FRESH, vary: 'accept' }, body: accept });
      get('a');
      get('b');
      const failed = harness.ask({ method: 'POST' }, { status: 500 });
      expect(failed.sent['x-trickster-result']).to.equal('engine=HTTPProxy; status=proxy-only');
      expect(trickResultOf(get('a'))).to.equal('hit');
      harness.ask({ method: 'OPTIONS' }, { status: 200 });
      expect(trickResultOf(get('a'))).to.equal('hit');
      harness.ask({ method: 'PURGE' }, { status: 204 });
      expect([trickResultOf(get('a')), trickResultOf(get('b'))]).to.deep.equal(['kmiss', 'kmiss']);
    });

    it('invalidate Location and Content-Location of the same origin only', () => {
      for (const target of ['/a', '/b', '/c']) harness.ask({ target }, { headers: FRESH });
      const headers = { location: '/a', 'content-location': 'http://evil.test/c' };
      harness.ask({ method: 'POST', target: '/x' }, { status: 201, headers });
      harness.ask({ method: 'POST', target: '/x' }, { status: 201, headers: { 'content-location': 'b' } });
      const results = ['/a', '/b', '/c'].map((target) =>
        trickResultOf(harness.ask({ target }, { headers: FRESH })),
      );
      expect(results).to.deep.equal(['kmiss', 'kmiss', 'hit']);
    });

    it('apply the header operations of the policy', () => {
      harness = new CacheHarness({
        policy: { responseHeaders: [{ operation: 'set', name: 'X-P', value: '1' }] },
      });
      expect(harness.ask({ method: 'POST' }, {}).sent).to.include({ 'x-p': '1' });
    });
  });
});
