import { expect } from 'chai';
import { CacheHarness } from '../../../support/engine/cache-harness.js';
import { type FakeExchange, trickResultOf } from '../../../support/engine/fake-exchange.js';

const FRESH = { 'cache-control': 'max-age=60' };
const ETAG = { ...FRESH, etag: '"a"' };

describe('ObjectCache: collapsed forwarding', () => {
  let harness: CacheHarness;
  beforeEach(() => {
    harness = new CacheHarness();
  });

  describe('collapsed forwarding', () => {
    const MANY = 50;
    const sendMany = (request = {}): FakeExchange[] =>
      Array.from({ length: MANY }, () => harness.send(request));

    it('C-16 asks once for a key that may be stored', () => {
      const exchanges = sendMany();
      expect(harness.pending.length).to.equal(1);
      harness.reply({ headers: FRESH, body: 'hello' });
      expect(exchanges.map(({ body }) => body)).to.deep.equal(Array<string>(MANY).fill('hello'));
      expect(harness.fetches).to.equal(1);
      expect(trickResultOf(exchanges[0]!)).to.equal('kmiss');
      expect(exchanges[1]!.sent).to.include({
        'x-trickster-result': 'engine=ObjectProxyCache; status=proxy-hit',
      });
      expect(exchanges[1]!.sent['cache-status']).to.match(/fwd=miss; collapsed/);
    });

    it('C-16 answers each with its own condition and range', () => {
      harness.send();
      const conditional = harness.send({ headers: { 'if-none-match': '"a"' } });
      const part = harness.send({ headers: { range: 'bytes=0-0', 'if-none-match': '"z"' } });
      expect(harness.pending.length, 'a range is not worth waiting for').to.equal(2);
      harness.reply({ headers: ETAG, body: 'hello' });
      expect(conditional.status).to.equal(304);
      expect(part.head).to.equal(undefined);
    });

    it('C-16 lets everyone ask for what is not to be shared, and does not make the next ones wait', () => {
      const exchanges = sendMany();
      harness.reply({ headers: { 'cache-control': 'private' }, body: 'one' });
      expect(harness.pending.length).to.equal(MANY - 1);
      while (harness.pending.length > 0)
        harness.reply({ headers: { 'cache-control': 'private' }, body: 'own' });
      expect(exchanges.map(({ body }) => body)).to.deep.equal([
        'one',
        ...Array<string>(MANY - 1).fill('own'),
      ]);
      sendMany();
      expect(harness.pending.length, 'remembered').to.equal(MANY);
      harness.pending.length = 0;
      harness.pass(5_001);
      sendMany();
      expect(harness.pending.length, 'and forgotten').to.equal(1);
    });

    it('C-16 asks again for another variant', () => {
      harness.send({ headers: { accept: 'a' } });
      const other = harness.send({ headers: { accept: 'b' } });
      harness.reply({ headers: { ...FRESH, vary: 'accept' }, body: 'A' });
      expect(other.head).to.equal(undefined);
      harness.reply({ headers: { ...FRESH, vary: 'accept' }, body: 'B' });
      expect(other.body).to.equal('B');
    });

    it('C-16 validates for each what has to be validated each time', () => {
      sendMany();
      harness.reply({ headers: { 'cache-control': 'no-cache', etag: '"a"' }, body: 'x' });
      expect(harness.pending.length).to.equal(MANY - 1);
      expect(harness.pending.every(({ asked }) => asked.fields.get('if-none-match') === '"a"')).to.equal(
        true,
      );
      const { exchange } = harness.reply({ status: 304 });
      expect(exchange.body).to.equal('x');
    });

    it('C-16 hands over when the leader is gone', () => {
      const [leader, ...others] = sendMany();
      const { tap } = harness.pending.shift()!;
      expect(tap.wantsRest(), 'others wait for it').to.equal(true);
      leader!.closed = true;
      others[0]!.closed = true;
      tap.onAbort();
      expect(harness.pending.map(({ exchange }) => exchange)).to.deep.equal([others[1]]);
      harness.reply({ headers: FRESH, body: 'hello' });
      expect(others.slice(1).every(({ body }) => body === 'hello')).to.equal(true);
      expect(others[0]!.head).to.equal(undefined);
    });

    it('C-16 hands over when the origin fails, and each failure is for one client', () => {
      const [first, second, third] = sendMany();
      harness.reply({ breaks: 'before' });
      expect(first!.refusedWith?.status).to.equal(502);
      harness.reply({ headers: FRESH, body: 'hello', breaks: 'within' });
      expect(second!.aborted).to.equal('truncated');
      harness.reply({ headers: FRESH, body: 'hello' });
      expect(third!.body).to.equal('hello');
      expect(harness.pending.length).to.equal(0);
    });

    it('C-16 gives up when nobody waits any more', () => {
      const leader = harness.send();
      const { tap } = harness.pending.shift()!;
      expect(tap.wantsRest()).to.equal(false);
      leader.closed = true;
      tap.onAbort();
      harness.send();
      expect(harness.pending.length).to.equal(1);
    });

    it('C-16 bounds the wait and the number of those who wait', () => {
      harness = new CacheHarness({ collapseWaitMs: 1_000, mostWaiters: 2 });
      const exchanges = Array.from({ length: 5 }, () => harness.send());
      expect(harness.pending.length, 'leader, and two that found no place').to.equal(3);
      harness.pass(900);
      expect(harness.pending.length).to.equal(3);
      harness.pass(200);
      expect(harness.pending.length).to.equal(5);
      while (harness.pending.length > 0) harness.reply({ headers: FRESH, body: 'x' });
      expect(exchanges.every(({ body }) => body === 'x')).to.equal(true);
    });

    it('C-16 shares a body that turns out too large with nobody', () => {
      harness = new CacheHarness({ maxObjectBytes: 10 });
      const exchanges = sendMany();
      harness.reply({ headers: { ...FRESH, 'x-chunked': '1' }, body: 'x'.repeat(50) });
      expect(harness.pending.length).to.equal(MANY - 1);
      while (harness.pending.length > 0) harness.reply({ body: 'y' });
      expect(exchanges[0]!.body.length).to.equal(50);
    });

    it('collapses validation, too', () => {
      harness.ask({}, { headers: ETAG, body: 'hello' });
      harness.pass(61_000);
      const exchanges = sendMany();
      expect(harness.pending.length).to.equal(1);
      harness.reply({ status: 304, headers: FRESH });
      expect(exchanges.every(({ body }) => body === 'hello')).to.equal(true);
      expect(harness.fetches).to.equal(2);
    });
  });
});
