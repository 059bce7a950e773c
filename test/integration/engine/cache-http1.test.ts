import { expect } from 'chai';
import { MemoryStore } from '../../../src/engine/cache/memory-store.js';
import { ObjectCache } from '../../../src/engine/cache/object-cache.js';
import type { ResponseStep } from '../../../src/engine/exchange/route-entry.js';
import { TimerWheel } from '../../../src/engine/exchange/timer-wheel.js';
import { WeightedBackends } from '../../../src/engine/upstream/weighted-backends.js';
import { CACHING_POLICY } from '../../support/engine/cache-harness.js';
import { Http1Lab, WIRES } from '../../support/engine/http1-lab.js';
import type { RawClient } from '../../support/engine/raw-client.js';
import { ok, type OriginConnection, RawOrigin } from '../../support/engine/raw-origin.js';
import { until } from '../../support/until.js';

const FRESH = 'Cache-Control: max-age=60\r\n';
const CHUNKED = `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n${FRESH}ETag: "a"\r\n\r\n`;

for (const wire of WIRES) {
  const { name } = wire;
  describe(`object cache behind HTTP/1.1 over the ${name} wire`, () => {
    let lab: Http1Lab;
    let store: MemoryStore;
    let nowMs: number;
    const wheel = new TimerWheel(5);
    const origins: RawOrigin[] = [];
    const clients: RawClient[] = [];
    const faults: unknown[] = [];
    let responseSteps: ResponseStep[];

    beforeEach(async () => {
      responseSteps = [];
      nowMs = Date.now();
      store = new MemoryStore({ maxSizeBytes: 16 * 1024 * 1024, maxObjectBytes: 1024 * 1024 });
      wheel.start();
      const cache = new ObjectCache({
        stores: new Map([['default', store]]),
        negativeCaches: new Map(),
        heuristicFraction: 0,
        honorsClients: true,
        timers: wheel,
        now: () => nowMs,
        background: {
          fetch: (like, head, tap) => {
            lab.runner.fetch(like, head, tap);
          },
        },
      });
      lab = await Http1Lab.start({ wire: wire.make((fault) => faults.push(fault)), cache });
    });

    afterEach(async () => {
      for (const client of clients.splice(0)) client.destroy();
      await lab.stop();
      wheel.stop();
      for (const origin of origins.splice(0)) await origin.stop();
      expect(faults.splice(0)).to.deep.equal([]);
    });

    function cached(port: number): void {
      const key = 'Service/test/cached/80';
      lab.upstream({
        key,
        protocol: 'http',
        endpoints: [{ address: '127.0.0.1', port }],
        loadBalancing: 'rr',
        connectTimeoutMs: 2000,
      });
      const backends = new WeightedBackends([lab.backend(key, { policy: CACHING_POLICY })]);
      lab.rule('/', { backends, responseSteps });
    }

    async function answering(...args: Parameters<typeof RawOrigin.answering>): Promise<RawOrigin> {
      const origin = await RawOrigin.answering(...args);
      origins.push(origin);
      cached(origin.port);
      return origin;
    }

    /** An origin whose connections the test drives itself. */
    async function silent(): Promise<{ origin: RawOrigin; requested: OriginConnection[] }> {
      const requested: OriginConnection[] = [];
      const origin = await RawOrigin.start((connection) => {
        connection.onRequest(() => requested.push(connection));
      });
      origins.push(origin);
      cached(origin.port);
      return { origin, requested };
    }

    async function client(): Promise<RawClient> {
      const opened = await lab.client();
      clients.push(opened);
      return opened;
    }

    it('answers the second request from the store', async () => {
      const origin = await answering(() => ok('hello', `${FRESH}ETag: "a"\r\nX-O: 1\r\n`));
      const one = await client();
      const miss = await one.get('/x?q=1');
      expect(miss.field('x-trickster-result')).to.equal('engine=ObjectProxyCache; status=kmiss');
      const hit = await one.get('/x?q=1');
      expect(hit.status).to.equal(200);
      expect(hit.body).to.equal('hello');
      expect(hit.field('x-trickster-result')).to.equal('engine=ObjectProxyCache; status=hit');
      expect(hit.field('cache-status')).to.match(/^trickster-gateway; hit; ttl=/);
      expect(hit.field('age')).to.equal('0');
      expect(hit.field('x-o')).to.equal('1');
      expect(hit.fields('content-length')).to.deep.equal(['5']);
      expect(hit.fields('date').length).to.equal(1);
      one.send('HEAD /x?q=1 HTTP/1.1\r\nHost: app.test\r\n\r\n');
      const head = await one.response(true);
      expect(head.field('content-length')).to.equal('5');
      expect((await one.get('/x?q=1', 'app.test', 'If-None-Match: "a"\r\n')).status).to.equal(304);
      const part = await one.get('/x?q=1', 'app.test', 'Range: bytes=1-2\r\n');
      expect([part.status, part.body]).to.deep.equal([206, 'el']);
      expect(origin.requests).to.equal(1);
      expect((await one.get('/x?q=2')).field('x-trickster-result')).to.match(/kmiss/);
    });

    it('gives each client the form of a hit that its connection needs', async () => {
      await answering(() => ok('hello', FRESH));
      const one = await client();
      await one.get('/');
      const plain = await one.get('/');
      const again = await one.get('/');
      expect([again.head, again.body]).to.deep.equal([plain.head, plain.body]);
      expect(plain.fields('via')).to.deep.equal(['1.1 trickster-gateway']);
      one.send('HEAD / HTTP/1.1\r\nHost: app.test\r\n\r\nGET / HTTP/1.1\r\nHost: app.test\r\n\r\n');
      const head = await one.response(true);
      expect([head.body, head.field('content-length')]).to.deep.equal(['', '5']);
      expect((await one.response()).body).to.equal('hello');
      const old = await client();
      old.send('GET / HTTP/1.0\r\nHost: app.test\r\nConnection: keep-alive\r\n\r\n');
      expect((await old.response()).field('connection')).to.equal('keep-alive');
      expect((await one.get('/', 'app.test', 'Connection: close\r\n')).field('connection')).to.equal('close');
      expect((await old.get('/')).field('connection')).to.equal(undefined);
    });

    it('changes a copy of a hit where the rule has response steps', async () => {
      let served = 0;
      responseSteps.push({
        run: (_exchange, { fields }) => {
          fields.add('x-served', String(++served));
        },
      });
      await answering(() => ok('hello', FRESH));
      const one = await client();
      for (const expected of ['1', '2', '3']) {
        const answer = await one.get('/');
        expect(answer.fields('x-served')).to.deep.equal([expected]);
        expect(answer.fields('via')).to.deep.equal(['1.1 trickster-gateway']);
      }
    });

    it('stores what was chunked and gives it a length', async () => {
      const origin = await answering(() => `${CHUNKED}3\r\nhel\r\n2\r\nlo\r\n0\r\n\r\n`);
      const one = await client();
      expect((await one.get('/')).body).to.equal('hello');
      const hit = await one.get('/');
      expect(hit.body).to.equal('hello');
      expect(hit.field('content-length')).to.equal('5');
      expect(hit.field('transfer-encoding')).to.equal(undefined);
      expect(origin.requests).to.equal(1);
    });

    it('C-16 asks the origin once for a hundred clients', async () => {
      const { origin, requested } = await silent();
      const many = await Promise.all(Array.from({ length: 100 }, client));
      const answers = many.map((each) => each.get('/'));
      await until(() => requested.length === 1 && lab.counters[3]! >= 100);
      requested[0]!.send(ok('hello', FRESH));
      const bodies = (await Promise.all(answers)).map(({ body }) => body);
      expect(bodies).to.deep.equal(Array<string>(100).fill('hello'));
      expect(origin.requests).to.equal(1);
    });

    it('C-16 keeps a fetch that others wait for when its client leaves', async () => {
      const { origin, requested } = await silent();
      const [leader, follower] = [await client(), await client()];
      leader.send('GET / HTTP/1.1\r\nHost: app.test\r\n\r\n');
      await until(() => requested.length === 1);
      const answer = follower.get('/');
      await until(() => lab.counters[3]! >= 2);
      leader.destroy();
      await until(() => lab.records.some(({ termination }) => termination === 'client'));
      requested[0]!.send(ok('hello', FRESH));
      expect((await answer).body).to.equal('hello');
      expect(origin.requests).to.equal(1);
    });

    it('finishes filling the store when the client leaves within the body', async () => {
      const { origin, requested } = await silent();
      const leader = await client();
      leader.send('GET / HTTP/1.1\r\nHost: app.test\r\n\r\n');
      await until(() => requested.length === 1);
      requested[0]!.send(`HTTP/1.1 200 OK\r\nContent-Length: 10\r\n${FRESH}\r\n01234`);
      await leader.until(() => leader.text.endsWith('01234'));
      leader.destroy();
      await until(() => lab.records.some(({ termination }) => termination === 'client'));
      requested[0]!.send('56789');
      await until(() => store.statistics.objects === 1);
      expect((await (await client()).get('/')).body).to.equal('0123456789');
      expect(origin.requests).to.equal(1);
    });

    it('C-17 stores no truncated body', async () => {
      const { requested } = await silent();
      const [leader, follower] = [await client(), await client()];
      leader.send('GET / HTTP/1.1\r\nHost: app.test\r\n\r\n');
      await until(() => requested.length === 1);
      const second = follower.get('/');
      await until(() => lab.counters[3]! >= 2);
      requested[0]!.send(`${CHUNKED}3\r\nhel\r\n`);
      await leader.until(() => leader.text.includes('hel'));
      requested[0]!.socket.destroy();
      await leader.closed();
      expect(leader.text).to.not.contain('\r\n0\r\n');
      await until(() => requested.length === 2);
      requested[1]!.send(ok('hello', FRESH));
      expect((await second).body).to.equal('hello');
      expect(store.statistics.objects).to.equal(1);
    });

    it('C-05 validates with 304 and keeps the connections', async () => {
      const origin = await answering((head) =>
        /if-none-match: "a"/i.test(head)
          ? `HTTP/1.1 304 Not Modified\r\n${FRESH}X-N: 2\r\n\r\n`
          : ok('hello', `${FRESH}ETag: "a"\r\n`),
      );
      const one = await client();
      await one.get('/');
      nowMs += 61_000;
      const renewed = await one.get('/');
      expect(renewed.body).to.equal('hello');
      expect(renewed.field('x-n')).to.equal('2');
      expect(renewed.field('x-trickster-result')).to.match(/rhit/);
      expect((await one.get('/')).field('x-trickster-result')).to.match(/status=hit/);
      expect(origin.requests).to.equal(2);
      expect(origin.connections.length).to.equal(1);
    });

    for (const [kind, response] of [
      ['sized', ok('hello', `${FRESH}ETag: "a"\r\n`)],
      ['chunked', `${CHUNKED}5\r\nhello\r\n0\r\n\r\n`],
    ] as const) {
      it(`answers a condition while a ${kind} body goes to the store`, async () => {
        const origin = await answering(() => response);
        const one = await client();
        const first = await one.get('/', 'app.test', 'If-None-Match: "a"\r\n');
        expect(first.status).to.equal(304);
        expect(first.field('etag')).to.equal('"a"');
        const second = await one.get('/');
        expect(second.status).to.equal(200);
        expect(second.body).to.equal('hello');
        expect(second.field('x-trickster-result')).to.match(/status=hit/);
        expect(origin.requests).to.equal(1);
      });
    }

    it('C-10 serves stale instead of an error', async () => {
      let isBroken = false;
      const origin = await answering((_head, _index, connection) => {
        if (!isBroken) return ok('hello', 'Cache-Control: max-age=1, stale-if-error=60\r\n');
        if (connection.requests % 2 === 0) connection.socket.destroy();
        return 'HTTP/1.1 503 Service Unavailable\r\nContent-Length: 5\r\n\r\nerror';
      });
      const one = await client();
      await one.get('/');
      isBroken = true;
      nowMs += 2_000;
      for (let i = 0; i < 3; i++) expect((await one.get('/')).body).to.equal('hello');
      await origin.stop();
      origins.length = 0;
      const refused = await one.get('/');
      expect([refused.status, refused.body]).to.deep.equal([200, 'hello']);
    });

    it('RFC 5861 serves stale and renews behind', async () => {
      let version = 1;
      const origin = await answering(() =>
        ok(`v${String(version)}`, 'Cache-Control: max-age=1, stale-while-revalidate=60\r\n'),
      );
      const one = await client();
      await one.get('/');
      nowMs += 2_000;
      version = 2;
      expect((await one.get('/')).body).to.equal('v1');
      await until(() => origin.requests === 2);
      let body = 'v1';
      for (let i = 0; i < 100 && body === 'v1'; i++) ({ body } = await one.get('/'));
      expect(body).to.equal('v2');
      expect(origin.requests).to.equal(2);
    });

    it('sends large bodies whole to slow readers', async () => {
      const body = Array.from({ length: 100_000 }, (_, i) => String(i).padStart(7, '0')).join('');
      await answering(() => ok(body, FRESH));
      const one = await client();
      expect((await one.get('/')).body === body).to.equal(true);
      const slow = await client();
      slow.socket.pause();
      const slowAnswer = slow.get('/');
      for (let i = 0; i < 3; i++) expect((await one.get('/')).body === body).to.equal(true);
      slow.socket.resume();
      const answer = await slowAnswer;
      expect(answer.body === body).to.equal(true);
      expect(answer.field('x-trickster-result')).to.match(/status=hit/);
    });
  });
}
