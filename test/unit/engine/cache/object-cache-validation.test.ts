import { expect } from 'chai';
import { CacheHarness, START } from '../../../support/engine/cache-harness.js';
import { fieldsOf, trickResultOf } from '../../../support/engine/fake-exchange.js';

const FRESH = { 'cache-control': 'max-age=60' };
const ETAG = { ...FRESH, etag: '"a"' };

describe('ObjectCache: validation, HEAD and ranges', () => {
  let harness: CacheHarness;
  beforeEach(() => {
    harness = new CacheHarness();
  });

  describe('validation', () => {
    it('C-05 asks with the stored validators and renews what was stored', () => {
      const lastModified = new Date(START - 100_000).toUTCString();
      harness.ask(
        {},
        {
          headers: { ...ETAG, 'last-modified': lastModified, 'x-foo': '1', 'content-type': 't' },
          body: 'hello',
        },
      );
      harness.pass(61_000);
      const exchange = harness.send();
      const { asked } = harness.pending[0]!;
      expect(fieldsOf(asked.fields)).to.deep.equal({
        'if-none-match': '"a"',
        'if-modified-since': lastModified,
      });
      harness.reply({
        status: 304,
        headers: {
          'cache-control': 'max-age=30',
          etag: '"b"',
          'x-foo': '2',
          'x-new': '1',
          'content-length': '99',
          'content-encoding': 'gzip',
          'content-type': 'other',
          'set-cookie': 'sid=1',
        },
      });
      expect(exchange.status).to.equal(200);
      expect(exchange.body).to.equal('hello');
      expect(exchange.sent).to.include({
        'x-trickster-result': 'engine=ObjectProxyCache; status=rhit',
        'x-foo': '2',
        'x-new': '1',
        etag: '"b"',
        'content-length': '5',
        'content-type': 't',
        age: '0',
      });
      expect(exchange.sent).to.not.have.any.keys('content-encoding', 'set-cookie');
      harness.pass(20_000);
      const hit = harness.send();
      expect(trickResultOf(hit)).to.equal('hit');
      expect(hit.sent).to.include({ age: '20', 'x-foo': '2' });
    });

    it('C-11 stores no-cache, and validates it every time', () => {
      harness.ask({}, { headers: { 'cache-control': 'no-cache', etag: '"a"' }, body: 'x' });
      expect(trickResultOf(harness.ask({}, { status: 304 }))).to.equal('rhit');
      expect(trickResultOf(harness.ask({}, { status: 304 }))).to.equal('rhit');
      expect(harness.fetches).to.equal(3);
    });

    it('replaces what is no longer current', () => {
      harness.ask({}, { headers: ETAG, body: 'old' });
      harness.pass(61_000);
      const exchange = harness.ask({}, { headers: { ...FRESH, etag: '"b"' }, body: 'new' });
      expect(exchange.body).to.equal('new');
      expect(exchange.sent['cache-status']).to.equal('trickster-gateway; fwd=stale; fwd-status=200; stored');
      expect(harness.send().body).to.equal('new');
      expect(harness.store.statistics.objects).to.equal(1);
    });

    it('drops what the origin withdraws', () => {
      harness.ask({}, { headers: ETAG, body: 'old' });
      harness.pass(61_000);
      expect(harness.ask({}, { status: 304, headers: { 'cache-control': 'no-store' } }).body).to.equal('old');
      expect(harness.store.statistics.objects).to.equal(0);
      harness.ask({}, { headers: ETAG, body: 'old' });
      harness.pass(61_000);
      harness.ask({}, { headers: { 'cache-control': 'no-store' }, body: 'secret' });
      expect(harness.store.statistics.objects).to.equal(0);
    });

    it('serves what was validated even when it was evicted meanwhile', () => {
      harness.ask({}, { headers: ETAG, body: 'hello' });
      harness.pass(61_000);
      const exchange = harness.send();
      harness.store.invalidate('http://a.test/');
      harness.reply({ status: 304 });
      expect(exchange.body).to.equal('hello');
    });

    it('answers client conditions from the store and on the way', () => {
      const headers = { 'if-none-match': '"a"' };
      const first = harness.send({ headers });
      expect(fieldsOf(harness.pending[0]!.asked.fields), 'the store needs the whole').to.deep.equal({});
      harness.reply({ headers: { ...ETAG, 'content-type': 'text/plain' }, body: 'hello' });
      expect(first.status).to.equal(304);
      expect(first.body).to.equal('');
      expect(trickResultOf(first)).to.equal('kmiss');
      const hit = harness.send({ headers });
      expect(hit.status).to.equal(304);
      expect(hit.sent).to.include({ etag: '"a"', 'cache-control': 'max-age=60', age: '0' });
      expect(hit.sent).to.not.have.any.keys('content-type', 'content-length');
      expect(harness.send({ headers: { 'if-none-match': '"z"' } }).status).to.equal(200);
      harness.pass(61_000);
      const renewed = harness.ask({ headers }, { status: 304, headers: FRESH });
      expect(renewed.status).to.equal(304);
      expect(harness.ask({}).body).to.equal('hello');
    });

    it('leaves other conditions to the origin', () => {
      harness.ask({}, { headers: ETAG });
      const exchange = harness.send({ headers: { 'if-match': '"a"' } });
      expect(fieldsOf(harness.pending[0]!.asked.fields)).to.deep.equal({ 'if-match': '"a"' });
      harness.reply({ status: 412 });
      expect(trickResultOf(exchange)).to.equal('proxy-only');
    });
  });

  describe('what clients ask of the cache', () => {
    const cc = (value: string): object => ({ headers: { 'cache-control': value } });

    it('C-11 no-store is neither answered from the store nor stored', () => {
      harness.ask({}, { headers: FRESH, body: 'a' });
      const exchange = harness.ask(cc('no-store'), { headers: FRESH, body: 'b' });
      expect(exchange.body).to.equal('b');
      expect(exchange.sent['cache-status']).to.match(/fwd=request/);
      expect(harness.send().body).to.equal('a');
    });

    it('C-11 no-cache and max-age=0 ask the origin first', () => {
      harness.ask({}, { headers: ETAG, body: 'a' });
      harness.pass(1_000);
      for (const value of ['no-cache', 'max-age=0']) {
        const exchange = harness.ask(cc(value), { status: 304, headers: FRESH });
        expect(trickResultOf(exchange)).to.equal('rhit');
        harness.pass(1_000);
      }
      expect(trickResultOf(harness.ask({ headers: { pragma: 'no-cache' } }, { headers: FRESH }))).to.equal(
        'kmiss',
      );
      expect(trickResultOf(harness.send(cc('max-age=5')))).to.equal('hit');
    });

    it('C-11 only-if-cached', () => {
      const miss = harness.send(cc('only-if-cached'));
      expect(miss.refusedWith?.status).to.equal(504);
      harness.ask({}, { headers: FRESH });
      expect(trickResultOf(harness.send(cc('only-if-cached')))).to.equal('hit');
    });

    it('is ignored when clients have no say', () => {
      harness = new CacheHarness({ honorsClients: false });
      harness.ask({}, { headers: FRESH });
      expect(trickResultOf(harness.send(cc('no-cache')))).to.equal('hit');
    });
  });

  describe('HEAD', () => {
    it('C-06 is answered from a stored GET, with its length and without a body', () => {
      harness.ask({}, { headers: FRESH, body: 'hello' });
      const exchange = harness.send({ method: 'HEAD' });
      expect(trickResultOf(exchange)).to.equal('hit');
      expect(exchange.body).to.equal('');
      expect(exchange.sent['content-length']).to.equal('5');
    });

    it('C-06 never becomes the answer to a GET', () => {
      harness.ask({ method: 'HEAD' }, { headers: { ...FRESH, 'content-length': '5' } });
      const exchange = harness.ask({}, { headers: FRESH, body: 'hello' });
      expect(exchange.body).to.equal('hello');
      expect(harness.fetches).to.equal(2);
    });

    it('C-06 shows that a stored GET is outdated, or renews it', () => {
      harness.ask({}, { headers: ETAG, body: 'hello' });
      harness.pass(61_000);
      harness.ask({ method: 'HEAD' }, { headers: { ...ETAG, 'content-length': '5' } });
      expect(trickResultOf(harness.send())).to.equal('hit');
      harness.pass(61_000);
      harness.ask({ method: 'HEAD' }, { headers: { ...FRESH, etag: '"b"' } });
      expect(harness.store.statistics.objects).to.equal(0);
    });
  });

  describe('ranges', () => {
    const range = (value: string, rest: Record<string, string> = {}): object => ({
      headers: { range: value, ...rest },
    });
    beforeEach(() => {
      harness.ask({}, { headers: { ...ETAG, 'content-type': 'text/plain' }, body: '0123456789' });
    });

    it('C-07 answers one range', () => {
      const exchange = harness.send(range('bytes=2-4'));
      expect(exchange.status).to.equal(206);
      expect(exchange.body).to.equal('234');
      expect(exchange.sent).to.include({
        'content-range': 'bytes 2-4/10',
        'content-length': '3',
        etag: '"a"',
      });
      expect(harness.send(range('bytes=-1')).body).to.equal('9');
    });

    it('C-07 answers several', () => {
      const exchange = harness.send(range('bytes=0-0,2-2'));
      expect(exchange.status).to.equal(206);
      const boundary =
        /^multipart\/byteranges; boundary=(\w+)$/.exec(exchange.sent['content-type'] ?? '')?.[1] ?? '';
      const part = (at: number): string =>
        `\r\n--${boundary}\r\nContent-Type: text/plain\r\nContent-Range: bytes ${at}-${at}/10\r\n\r\n${at}`;
      expect(exchange.body).to.equal(`${part(0)}${part(2)}\r\n--${boundary}--\r\n`);
      expect(exchange.sent['content-length']).to.equal(String(exchange.body.length));
    });

    it('C-07 refuses what is not there and ignores what is malformed or outdated', () => {
      const nothing = harness.send(range('bytes=10-'));
      expect(nothing.status).to.equal(416);
      expect(nothing.sent['content-range']).to.equal('bytes */10');
      expect(harness.send(range('bytes=5-2')).status).to.equal(200);
      expect(harness.send(range('bytes=0-1', { 'if-range': '"a"' })).status).to.equal(206);
      expect(harness.send(range('bytes=0-1', { 'if-range': '"z"' })).status).to.equal(200);
      expect(harness.send({ method: 'HEAD', ...range('bytes=0-1') }).status).to.equal(200);
      expect(harness.fetches).to.equal(1);
    });

    it('C-07 never stores a part', () => {
      const target = '/other';
      const part = harness.send({ target, ...range('bytes=0-1') });
      expect(fieldsOf(harness.pending[0]!.asked.fields)).to.deep.equal({ range: 'bytes=0-1' });
      harness.reply({ status: 206, headers: { ...ETAG, 'content-range': 'bytes 0-1/4' }, body: 'ab' });
      expect(part.status).to.equal(206);
      expect(harness.ask({ target }, { headers: FRESH, body: 'abcd' }).body).to.equal('abcd');
      expect(harness.send({ target }).body).to.equal('abcd');
    });
  });
});
