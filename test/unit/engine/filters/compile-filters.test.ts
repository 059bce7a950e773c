import { expect } from 'chai';
import type { CachePolicy } from '../../../../src/ir/cache-policy.js';
import type { Cors, HttpFilter, PathModifier, RequestRedirect } from '../../../../src/ir/http-filter.js';
import { FieldList } from '../../../../src/engine/exchange/fields.js';
import { PlainResponseHead } from '../../../../src/engine/exchange/heads.js';
import { ANSWERED, CONTINUE, type StepOutcome } from '../../../../src/engine/exchange/route-entry.js';
import type { UpstreamTarget } from '../../../../src/engine/exchange/upstream.js';
import {
  type CompiledFilters,
  compileFilters,
  compilePolicyHeaders,
  type FilterServices,
  NO_FILTERS,
} from '../../../../src/engine/filters/compile-filters.js';
import { FakeExchange, fieldsOf } from '../../../support/engine/fake-exchange.js';

const upstream: UpstreamTarget = { key: 'u', choose: () => ({ status: 503, reason: 'none' }) };

function servicesOf(services: Partial<FilterServices> = {}): FilterServices {
  return {
    upstream: (key) => (key === 'u' ? upstream : undefined),
    mirror: { send: () => undefined },
    authorize: () => ({ requestStep: { run: () => CONTINUE } }),
    ...services,
  };
}

function runRequest(filters: readonly HttpFilter[] | CompiledFilters, exchange: FakeExchange): StepOutcome {
  const compiled = 'requestSteps' in filters ? filters : compileFilters(filters, servicesOf());
  for (const step of compiled.requestSteps) {
    const outcome = step.run(exchange);
    if (outcome !== CONTINUE) return outcome;
  }
  return CONTINUE;
}

function runResponse(
  filters: readonly HttpFilter[] | CompiledFilters,
  exchange: FakeExchange,
  flat: string[],
): Record<string, string> {
  const head = new PlainResponseHead(200, new FieldList(flat));
  const compiled = 'requestSteps' in filters ? filters : compileFilters(filters, servicesOf());
  for (const step of compiled.responseSteps) step.run(exchange, head);
  return fieldsOf(head.fields);
}

describe('compileFilters', () => {
  it('gives a rule without filters nothing to run', () => {
    expect(compileFilters([], servicesOf())).to.equal(NO_FILTERS);
  });

  describe('header modifiers', () => {
    const modifier: HttpFilter = {
      type: 'request-headers',
      set: [{ name: 'X-Set', value: 'a, b' }],
      add: [{ name: 'X-Add', value: 'new' }],
      remove: ['X-Remove'],
    };

    it('F-04 sets, adds and removes without regard to case', () => {
      const exchange = new FakeExchange({
        headers: { 'x-set': ['1', '2'], 'x-add': 'old', 'x-remove': '1', 'x-keep': '1' },
      });
      expect(runRequest([modifier], exchange)).to.equal(CONTINUE);
      expect(fieldsOf(exchange.request.fields)).to.deep.equal({
        'x-set': 'a, b',
        'x-add': 'old | new',
        'x-keep': '1',
      });
    });

    it('changes responses, too', () => {
      const sent = runResponse([{ ...modifier, type: 'response-headers' }], new FakeExchange(), [
        'x-remove',
        '1',
      ]);
      expect(sent).to.deep.equal({ 'x-set': 'a, b', 'x-add': 'new' });
    });

    it('F-03 takes values literally and sends UTF-8', () => {
      const exchange = new FakeExchange();
      const set = [
        { name: 'x', value: '$host %REQ(x)% {{x}}' },
        { name: 'y', value: 'é\u010a' },
      ];
      runRequest([{ type: 'request-headers', set, add: [], remove: [] }], exchange);
      expect(exchange.request.fields.get('x')).to.equal('$host %REQ(x)% {{x}}');
      expect(exchange.request.fields.get('y'), 'no line feed out of U+010A').to.equal('Ã©Ä\u008a');
    });

    it('F-05 rewrites the authority when Host is set and leaves framing to the codecs', () => {
      const exchange = new FakeExchange({ headers: { 'content-length': '3' } });
      const set = ['Host', 'Content-Length', 'Transfer-Encoding', ':path'].map((name) => ({
        name,
        value: 'x.test',
      }));
      runRequest([{ type: 'request-headers', set, add: [], remove: ['Host', 'Connection'] }], exchange);
      expect(exchange.request.authority).to.equal('x.test');
      expect(fieldsOf(exchange.request.fields)).to.deep.equal({ 'content-length': '3' });
    });

    it('F-05 lets the last of Host and rewrite win', () => {
      const exchange = new FakeExchange();
      runRequest(
        [
          { type: 'request-headers', set: [{ name: 'Host', value: 'x.test' }], add: [], remove: [] },
          { type: 'rewrite', hostname: 'y.test' },
        ],
        exchange,
      );
      expect(exchange.request.authority).to.equal('y.test');
    });
  });

  describe('rewrite', () => {
    const cases: readonly (readonly [
      target: string,
      prefix: string,
      modifier: PathModifier,
      want: string,
    ])[] = [
      ['/foo/bar', '/foo', { type: 'prefix', value: '/xyz' }, '/xyz/bar'],
      ['/foo/bar', '/foo', { type: 'prefix', value: '/xyz/' }, '/xyz/bar'],
      ['/foo', '/foo', { type: 'prefix', value: '/xyz' }, '/xyz'],
      ['/foo/', '/foo', { type: 'prefix', value: '/xyz' }, '/xyz/'],
      ['/foo/bar', '/foo', { type: 'prefix', value: '' }, '/bar'],
      ['/foo/', '/foo', { type: 'prefix', value: '' }, '/'],
      ['/foo', '/foo', { type: 'prefix', value: '' }, '/'],
      ['/foo/', '/foo', { type: 'prefix', value: '/' }, '/'],
      ['/foo', '/foo', { type: 'prefix', value: '/' }, '/'],
      ['/foo//bar', '/foo', { type: 'prefix', value: '/' }, '/bar'],
      ['/foo?a=/b', '/foo', { type: 'prefix', value: '/' }, '/?a=/b'],
      ['/foo/b?a=1', '/foo', { type: 'prefix', value: '/x' }, '/x/b?a=1'],
      ['/a/b', '', { type: 'prefix', value: '/x' }, '/x/a/b'],
      ['/', '', { type: 'prefix', value: '/x' }, '/x/'],
      ['/a.b(c)+/d', '/a.b(c)+', { type: 'prefix', value: '/$1/$&/\\1' }, '/$1/$&/\\1/d'],
      ['/foo?q=1', '/foo', { type: 'full', value: '/one/two' }, '/one/two?q=1'],
      ['/foo', '/foo', { type: 'full', value: '' }, '/'],
      ['/foo?q', '/foo', { type: 'full', value: 'a b?c#é' }, '/a%20b%3Fc%23%C3%A9?q'],
    ];
    for (const [target, matchedPrefix, path, want] of cases) {
      it(`F-03 ${target} with ${path.type} '${path.value}' becomes ${want}`, () => {
        const exchange = new FakeExchange({ target }, { matchedPrefix });
        runRequest([{ type: 'rewrite', path }], exchange);
        expect(exchange.request.path).to.equal(want);
      });
    }

    it('leaves the path when the match was no prefix', () => {
      const exchange = new FakeExchange({ target: '/a' });
      runRequest([{ type: 'rewrite', path: { type: 'prefix', value: '/x' } }], exchange);
      expect(exchange.request.path).to.equal('/a');
    });
  });

  describe('redirect', () => {
    const secure = { secure: true, localPort: 443 };
    const cases: readonly (readonly [
      name: string,
      filter: Partial<RequestRedirect>,
      context: { secure?: boolean; localPort?: number },
      location: string,
    ])[] = [
      ['scheme https on 80', { scheme: 'https' }, {}, 'https://a.test/x?q=1'],
      ['scheme https on 8080', { scheme: 'https' }, { localPort: 8080 }, 'https://a.test/x?q=1'],
      ['port on 80', { port: 8443 }, {}, 'http://a.test:8443/x?q=1'],
      ['hostname on 80', { hostname: 'b.test' }, {}, 'http://b.test/x?q=1'],
      ['hostname on 8080', { hostname: 'b.test' }, { localPort: 8080 }, 'http://b.test:8080/x?q=1'],
      ['hostname on 443', { hostname: 'b.test' }, secure, 'https://b.test/x?q=1'],
      [
        'hostname on 8443',
        { hostname: 'b.test' },
        { ...secure, localPort: 8443 },
        'https://b.test:8443/x?q=1',
      ],
      ['http and 80', { scheme: 'http', port: 80 }, { localPort: 8080 }, 'http://a.test/x?q=1'],
      ['https and 443', { scheme: 'https', port: 443 }, {}, 'https://a.test/x?q=1'],
      ['http and 443', { scheme: 'http', port: 443 }, {}, 'http://a.test:443/x?q=1'],
      ['http on 443', { scheme: 'http' }, secure, 'http://a.test/x?q=1'],
      ['full path', { path: { type: 'full', value: '/y' } }, {}, 'http://a.test/y?q=1'],
      ['prefix', { path: { type: 'prefix', value: '/y' } }, {}, 'http://a.test/y?q=1'],
    ];
    for (const [name, filter, context, location] of cases) {
      it(`F-01 ${name}: ${location}`, () => {
        const exchange = new FakeExchange(
          { authority: 'A.test:1234', target: '/x?q=1' },
          { context, matchedPrefix: '/x' },
        );
        expect(runRequest([{ type: 'redirect', status: 302, ...filter }], exchange)).to.equal(ANSWERED);
        expect(exchange.status).to.equal(302);
        expect(exchange.sent).to.deep.equal({ location, 'content-length': '0' });
      });
    }

    it('is sure of an absolute location whatever the path', () => {
      const locationOf = (target: string): string | undefined => {
        const exchange = new FakeExchange({ target });
        runRequest([{ type: 'redirect', status: 301, hostname: 'b.test' }], exchange);
        return exchange.sent['location'];
      };
      expect(locationOf('//evil.test')).to.equal('http://b.test//evil.test');
      expect(locationOf('*')).to.equal('http://b.test/');
    });
  });

  describe('mirror', () => {
    function mirrored(numerator: number, denominator: number, requests: number): number {
      let sent = 0;
      const services = servicesOf({ mirror: { send: () => sent++ } });
      const compiled = compileFilters([{ type: 'mirror', upstream: 'u', numerator, denominator }], services);
      for (let i = 0; i < requests; i++) expect(runRequest(compiled, new FakeExchange())).to.equal(CONTINUE);
      return sent;
    }

    it('copies exactly the share', () => {
      expect(mirrored(20, 100, 500)).to.equal(100);
      expect(mirrored(35, 100, 500)).to.equal(175);
      expect(mirrored(1, 3, 10)).to.equal(3);
      expect(mirrored(100, 100, 7)).to.equal(7);
      expect(mirrored(0, 100, 50)).to.equal(0);
    });

    it('sends nothing to a reference that is invalid', () => {
      const filter = { type: 'mirror' as const, numerator: 1, denominator: 1 };
      expect(compileFilters([filter], servicesOf()).requestSteps).to.deep.equal([]);
      expect(compileFilters([{ ...filter, upstream: 'gone' }], servicesOf()).requestSteps).to.deep.equal([]);
    });
  });

  describe('external authorization', () => {
    const filter: HttpFilter = {
      type: 'external-auth',
      protocol: 'http',
      upstream: 'u',
      path: '',
      allowedRequestHeaders: [],
      allowedResponseHeaders: [],
      forwardBodyBytes: 0,
    };

    it('denies when the service cannot be resolved', () => {
      const exchange = new FakeExchange();
      expect(runRequest([{ ...filter, upstream: 'gone' }], exchange)).to.equal(ANSWERED);
      expect(exchange.status).to.equal(500);
    });

    it('asks the resolved service', () => {
      const asked: string[] = [];
      const services = servicesOf({
        authorize: (_filter, { key }) => {
          asked.push(key);
          return { requestStep: { run: () => CONTINUE } };
        },
      });
      compileFilters([filter], services);
      expect(asked).to.deep.equal(['u']);
    });
  });
});

describe('CORS', () => {
  const cors: Cors = {
    type: 'cors',
    allowOrigins: [
      'https://www.foo.com',
      'https://*.bar.com',
      'http://port.test:8080',
      'https://default.test:443',
    ],
    allowCredentials: false,
    allowMethods: ['GET', 'POST'],
    allowHeaders: ['x-a', 'x-b'],
    exposeHeaders: ['x-exposed'],
    maxAgeSeconds: 3600,
  };

  function preflight(filter: Cors, origin: string, extra: readonly HttpFilter[] = []): FakeExchange {
    const exchange = new FakeExchange({
      method: 'OPTIONS',
      headers: {
        origin,
        'access-control-request-method': 'PUT',
        'access-control-request-headers': 'x-header-1, x-header-2',
      },
    });
    expect(runRequest([...extra, filter], exchange)).to.equal(ANSWERED);
    return exchange;
  }

  it('F-08 answers a preflight of an allowed origin itself', () => {
    const exchange = preflight(cors, 'https://www.foo.com');
    expect(exchange.status).to.equal(204);
    expect(exchange.sent).to.deep.equal({
      'access-control-allow-origin': 'https://www.foo.com',
      'access-control-allow-methods': 'GET, POST',
      'access-control-allow-headers': 'x-a, x-b',
      'access-control-expose-headers': 'x-exposed',
      'access-control-max-age': '3600',
      vary: 'Origin, Access-Control-Request-Method, Access-Control-Request-Headers',
    });
  });

  it('F-08 answers before a redirect could', () => {
    const redirect: HttpFilter = { type: 'redirect', status: 302, scheme: 'https' };
    expect(preflight(cors, 'https://www.foo.com', [redirect]).status).to.equal(204);
  });

  const origins: readonly (readonly [origin: string, allowed: boolean])[] = [
    ['https://www.foo.com', true],
    ['http://www.foo.com', false],
    ['https://www.foo.com:8443', false],
    ['https://www.bar.com', true],
    ['https://xpto.www.bar.com', true],
    ['https://bar.com', false],
    ['https://.bar.com', false],
    ['https://evil.com/.bar.com', false],
    ['https://a@x.bar.com', false],
    ['https://www.bar.com:444', false],
    ['https://evilbar.com', false],
    ['http://port.test:8080', true],
    ['http://port.test', false],
    ['https://default.test', true],
    ['null', false],
  ];
  for (const [origin, allowed] of origins) {
    it(`F-08 ${allowed ? 'allows' : 'denies'} ${origin}`, () => {
      const { sent, status } = preflight(cors, origin);
      expect(status).to.equal(204);
      expect(sent['access-control-allow-origin']).to.equal(allowed ? origin : undefined);
      expect('access-control-allow-methods' in sent).to.equal(allowed);
    });
  }

  it('F-08 echoes instead of `*` when credentials are allowed', () => {
    const any: Cors = {
      ...cors,
      allowOrigins: ['*'],
      allowCredentials: true,
      allowMethods: ['*'],
      allowHeaders: ['*'],
      exposeHeaders: ['*'],
    };
    const { sent } = preflight(any, 'https://x.test');
    expect(sent).to.include({
      'access-control-allow-origin': 'https://x.test',
      'access-control-allow-credentials': 'true',
      'access-control-allow-methods': 'PUT',
      'access-control-allow-headers': 'x-header-1, x-header-2',
    });
    expect(Object.values(sent)).to.not.include('*');
    const exchange = new FakeExchange({ headers: { origin: 'https://x.test' } });
    const simple = runResponse([any], exchange, ['x-one', '1', 'set-cookie', 'a']);
    expect(simple['access-control-expose-headers']).to.equal('x-one, vary');
  });

  it('answers `*` to everyone when nothing depends on the origin', () => {
    const any: Cors = { ...cors, allowOrigins: ['*'], exposeHeaders: ['*'] };
    const exchange = new FakeExchange({ headers: { origin: 'https://x.test' } });
    expect(runResponse([any], exchange, [])).to.deep.equal({
      'access-control-allow-origin': '*',
      'access-control-expose-headers': '*',
    });
  });

  it("forwards other requests and replaces the backend's fields", () => {
    const exchange = new FakeExchange({ headers: { origin: 'https://www.foo.com' } });
    expect(runRequest([cors], exchange)).to.equal(CONTINUE);
    const backend = [
      'access-control-allow-origin',
      '*',
      'access-control-allow-credentials',
      'true',
      'vary',
      'Accept',
    ];
    expect(runResponse([cors], exchange, [...backend])).to.deep.equal({
      vary: 'Accept | Origin',
      'access-control-allow-origin': 'https://www.foo.com',
      'access-control-expose-headers': 'x-exposed',
    });
    const denied = new FakeExchange({ headers: { origin: 'https://evil.test' } });
    expect(runResponse([cors], denied, [...backend])).to.deep.equal({ vary: 'Accept | Origin' });
    expect(runResponse([cors], new FakeExchange(), ['vary', 'origin'])).to.deep.equal({ vary: 'origin' });
  });

  it('forwards an OPTIONS request that is no preflight', () => {
    const exchange = new FakeExchange({ method: 'OPTIONS', headers: { origin: 'https://www.foo.com' } });
    expect(runRequest([cors], exchange)).to.equal(CONTINUE);
  });
});

describe('compilePolicyHeaders', () => {
  const policy: CachePolicy = {
    key: 'p',
    handler: 'proxy',
    cacheName: 'default',
    keyHeaders: [],
    requestHeaders: [{ operation: 'set', name: 'X-Org', value: '1' }],
    responseHeaders: [
      { operation: 'append', name: 'Vary', value: 'X' },
      { operation: 'remove', name: 'Server' },
    ],
    collapsedForwarding: 'basic',
    resultHeader: 'expose',
  };

  it('changes requests and, without a cache, responses', () => {
    const exchange = new FakeExchange();
    runRequest(compilePolicyHeaders(policy), exchange);
    expect(fieldsOf(exchange.request.fields)).to.deep.equal({ 'x-org': '1' });
    expect(runResponse(compilePolicyHeaders(policy), exchange, ['server', 'x', 'vary', 'A'])).to.deep.equal({
      vary: 'A | X',
      'x-trickster-result': 'engine=HTTPProxy; status=proxy-only',
    });
    const hidden = compilePolicyHeaders({
      ...policy,
      resultHeader: 'hide',
      responseHeaders: [],
      requestHeaders: [],
    });
    expect(hidden).to.deep.equal(NO_FILTERS);
  });

  it('leaves the responses of a caching policy to the cache', () => {
    expect(compilePolicyHeaders({ ...policy, handler: 'proxycache' }).responseSteps).to.deep.equal([]);
  });
});
