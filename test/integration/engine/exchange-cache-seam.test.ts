import { expect } from 'chai';
import type { CachePolicy } from '../../../src/ir/cache-policy.js';
import { FieldList } from '../../../src/engine/exchange/fields.js';
import { PlainRequestHead, PlainResponseHead } from '../../../src/engine/exchange/heads.js';
import { Piece } from '../../../src/engine/exchange/piece.js';
import {
  FETCH,
  PASS,
  RELAY,
  SWALLOW,
  TAKEN,
  type ResponseCache,
  type ResponseTap,
} from '../../../src/engine/exchange/response-cache.js';
import { WeightedBackends } from '../../../src/engine/upstream/weighted-backends.js';
import { labSuite } from '../../support/engine/lab-suite.js';
import { ok } from '../../support/engine/raw-origin.js';
import { until } from '../../support/until.js';

const policy: CachePolicy = {
  key: 'p',
  handler: 'proxycache',
  cacheName: 'c',
  keyHeaders: [],
  requestHeaders: [],
  responseHeaders: [],
  collapsedForwarding: 'basic',
  resultHeader: 'expose',
};

const source = { resume: () => undefined, cancel: () => undefined };

/** Notes what it hears; tests override what they need. */
class ProbeTap implements ResponseTap {
  readonly heard: string[] = [];
  onHead: ResponseTap['onHead'] = (_exchange, head) => {
    this.heard.push(`head ${String(head.status)}`);
    return RELAY;
  };
  onFailure: ResponseTap['onFailure'] = () => false;
  wants = false;

  onData(piece: Piece): void {
    this.heard.push(piece.copy().toString());
  }

  onEnd(): void {
    this.heard.push('end');
  }

  onAbort(): void {
    this.heard.push('abort');
  }

  wantsRest(): boolean {
    return this.wants;
  }
}

labSuite('the seam between exchange and cache', ({ startLab, answering, start }) => {
  async function cached(admit: ResponseCache['admit'], answer: string, extra: Partial<CachePolicy> = {}) {
    const origin = await answering(() => answer);
    const lab = await startLab({ cache: { admit } });
    lab.route('/o', [origin.port]);
    const backend = lab.backend('Service/test//o/80', { policy: { ...policy, ...extra } });
    lab.rule('/', { backends: new WeightedBackends([backend]) });
    return { lab, origin, client: await lab.client() };
  }

  it('a tap hears the response and its end', async () => {
    const tap = new ProbeTap();
    const { client, lab } = await cached((exchange) => {
      exchange.tap = tap;
      exchange.cacheResult = 'kmiss';
      return FETCH;
    }, ok('body'));
    expect((await client.get('/')).body).to.equal('body');
    expect(tap.heard).to.deep.equal(['head 200', 'body', 'end']);
    expect(lab.records[0]?.termination).to.equal('complete');
    client.destroy();
  });

  it('is not asked without a policy that says so', async () => {
    const { client } = await cached(() => TAKEN, ok('x'), { handler: 'proxy' });
    expect((await client.get('/')).body).to.equal('x');
    client.destroy();
  });

  it('answers by itself, at once or later, or passes after waiting', async () => {
    const { client, origin } = await cached((exchange) => {
      const hit = Buffer.from('stored');
      const respond = (): void => {
        const head = new PlainResponseHead(200, new FieldList(['x-hit', '1']), hit.length);
        exchange.respondHead(head, new Piece().set(hit, 0, hit.length, true), source);
      };
      if (exchange.originalPath === '/now') respond();
      else if (exchange.originalPath === '/later') setImmediate(respond);
      else if (exchange.originalPath === '/wait')
        setImmediate(() => { exchange.forward(); }); // prettier-ignore
      else return PASS;
      return TAKEN;
    }, ok('fetched'));
    const bodies: string[] = [];
    for (const path of ['/now', '/later', '/wait', '/pass']) bodies.push((await client.get(path)).body);
    expect(bodies).to.deep.equal(['stored', 'stored', 'fetched', 'fetched']);
    expect(origin.requests).to.equal(2);
    client.destroy();
  });

  it('streams with back-pressure', async () => {
    const chunk = Buffer.alloc(256 * 1024, 'c');
    const chunks = 16;
    const { client } = await cached((exchange) => {
      let left = chunks;
      const piece = new Piece();
      const push = (): void => {
        while (left > 0) {
          const outcome = exchange.respondData(piece.set(chunk, 0, chunk.length, --left === 0));
          if (outcome !== 0) return;
        }
      };
      const head = new PlainResponseHead(200, new FieldList(), chunk.length * chunks);
      if (exchange.respondHead(head, piece.clear(false), { resume: push, cancel: () => undefined }) === 0)
        push();
      return TAKEN;
    }, ok('x'));
    const response = await client.get('/');
    expect(response.body.length).to.equal(chunk.length * chunks);
    client.destroy();
  });

  it('swallows a 304 and answers with what is stored', async () => {
    const tap = new ProbeTap();
    tap.onHead = (exchange, head) => {
      tap.heard.push(`head ${String(head.status)}`);
      const stored = Buffer.from('stored');
      exchange.respondHead(
        new PlainResponseHead(200, new FieldList(), 6),
        new Piece().set(stored, 0, 6, true),
        source,
      );
      return SWALLOW;
    };
    const { client } = await cached((exchange) => {
      exchange.request.fields.set('if-none-match', '"e"');
      exchange.tap = tap;
      return FETCH;
    }, 'HTTP/1.1 304 Not Modified\r\nETag: "e"\r\n\r\n');
    expect((await client.get('/')).body).to.equal('stored');
    expect((await client.get('/')).body).to.equal('stored');
    expect(tap.heard).to.deep.equal(['head 304', 'end', 'head 304', 'end']);
    client.destroy();
  });

  it('answers for a backend that fails (stale-if-error), or lets the gateway refuse', async () => {
    const tap = new ProbeTap();
    const { client } = await cached((exchange) => {
      exchange.tap = tap;
      return FETCH;
    }, 'nonsense\r\n\r\n');
    expect((await client.get('/')).status).to.equal(502);
    tap.onFailure = (exchange, status) => {
      tap.heard.push(`failure ${String(status)}`);
      exchange.answer(new PlainResponseHead(200, new FieldList(['x-stale', '1'])), Buffer.from('stale'));
      return true;
    };
    expect((await client.get('/')).body).to.equal('stale');
    expect(tap.heard).to.deep.equal(['abort', 'failure 502', 'abort']);
    client.destroy();
  });

  for (const wants of [true, false]) {
    it(`a client that leaves: the fetch ${wants ? 'goes on' : 'is aborted'} as the tap wants`, async () => {
      const tap = new ProbeTap();
      tap.wants = wants;
      const origin = await start((connection) => {
        connection.onRequest(() => {
          connection.send('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello');
        });
      });
      const lab = await startLab({
        cache: {
          admit: (exchange) => {
            exchange.tap = tap;
            return FETCH;
          },
        },
      });
      lab.route('/o', [origin.port]);
      const backend = lab.backend('Service/test//o/80', { policy });
      lab.rule('/', { backends: new WeightedBackends([backend]) });
      const client = await lab.client();
      client.send('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
      await client.until(() => client.text.endsWith('hello'));
      client.destroy();
      await until(() => lab.records.length === 1);
      expect(lab.records[0]?.termination).to.equal('client');
      if (wants) origin.connections[0]!.send('world');
      await until(() => ['end', 'abort'].includes(tap.heard.at(-1) ?? ''));
      expect(tap.heard).to.deep.equal(
        wants ? ['head 200', 'hello', 'world', 'end'] : ['head 200', 'hello', 'abort'],
      );
      expect(lab.records).to.have.length(1);
    });
  }

  it('fetches for its own sake', async () => {
    const tap = new ProbeTap();
    const { client, lab, origin } = await cached((exchange) => {
      lab.runner.fetch(exchange, PlainRequestHead.of(exchange.request), tap);
      return PASS;
    }, ok('body'));
    await client.get('/');
    await until(() => tap.heard.at(-1) === 'end');
    expect(tap.heard).to.deep.equal(['head 200', 'body', 'end']);
    expect(origin.requests).to.equal(2);
    expect(lab.records).to.have.length(1);
    client.destroy();
  });
});
