import { expect } from 'chai';
import fc from 'fast-check';
import type { HttpMatch, HttpRoute, PathMatch } from '../../../../src/ir/http.js';
import type { RequestHead } from '../../../../src/engine/exchange/heads.js';
import { toCandidate } from '../../../../src/engine/routing/candidate.js';
import { PathTable } from '../../../../src/engine/routing/path-table.js';
import { matchOf, pathMatch, requestOf, routeOf } from '../../../support/engine/routing-fixture.js';

function tableOf(routes: readonly HttpRoute[]): PathTable<undefined> {
  return new PathTable(
    routes.flatMap((route) =>
      route.rules.flatMap((rule) =>
        rule.matches.map((match, matchIndex) => toCandidate(undefined, { route, rule, match, matchIndex })),
      ),
    ),
  );
}

/** `route/rule/match` of what answers. */
function found(table: PathTable<undefined>, request: RequestHead): string | undefined {
  const source = table.match(request)?.source;
  return source && `${source.route.name}/${source.rule.index}/${source.matchIndex}`;
}

function expectTargets(
  table: PathTable<undefined>,
  wanted: Readonly<Record<string, string | undefined>>,
): void {
  const actual = Object.keys(wanted).map((target) => [target, found(table, requestOf({ target }))]);
  expect(Object.fromEntries(actual)).to.deep.equal(wanted);
}

describe('PathTable', () => {
  it('M-02 compares prefixes by whole elements', () => {
    expectTargets(tableOf([routeOf('r', [[pathMatch('prefix', '/abc')]])]), {
      '/abc': 'r/0/0',
      '/abc/': 'r/0/0',
      '/abc/d': 'r/0/0',
      '/abc?x': 'r/0/0',
      '/abcd': undefined,
      '/ab': undefined,
      '//abc': undefined,
      '*': undefined,
    });
  });

  it('finds the longest of many prefixes, too', () => {
    const many = ['', '/abc', '/a/b', '/a/b/c', '/1', '/2', '/3', '/4', '/5', '/6'];
    expectTargets(tableOf([routeOf('r', [many.map((value) => pathMatch('prefix', value))])]), {
      '/abc/d': 'r/0/1',
      '/abcd': 'r/0/0',
      '/a': 'r/0/0',
      '/a/b/': 'r/0/2',
      '/a/b/c': 'r/0/3',
      '/a/b/c/d/e': 'r/0/3',
      '/7': 'r/0/0',
      '/6/': 'r/0/9',
      '*': undefined,
    });
  });

  it('prefers exact, then the longer regex, then the longest prefix', () => {
    const table = tableOf([
      routeOf('r', [
        [pathMatch('prefix', ''), pathMatch('prefix', '/a'), pathMatch('prefix', '/a/b/c')],
        [pathMatch('regex', '/a/.*'), pathMatch('regex', '/a/b/[0-9]+')],
        [pathMatch('exact', '/a/b/1'), pathMatch('exact', '/a/')],
      ]),
    ]);
    expectTargets(table, {
      '/a/b/1': 'r/2/0',
      '/a/b/2': 'r/1/1',
      '/a/b/2x': 'r/1/0',
      '/a/b/c/d': 'r/1/0',
      '/a/': 'r/2/1',
      '/a': 'r/0/1',
      '/ax': 'r/0/0',
      '/': 'r/0/0',
    });
  });

  it('anchors regular expressions at both ends and survives one that does not compile', () => {
    const table = tableOf([routeOf('r', [[pathMatch('regex', '/(a|b'), pathMatch('regex', '/x|/y')]])]);
    expectTargets(table, {
      '/x': 'r/0/1',
      '/y': 'r/0/1',
      '/xz': undefined,
      '/z/y': undefined,
      '/(a|b': undefined,
    });
  });

  it('matches a lone regular expression', () => {
    expectTargets(tableOf([routeOf('r', [[pathMatch('regex', '/v[0-9]')]])]), {
      '/v1': 'r/0/0',
      '/v12': undefined,
    });
  });

  it('falls to the next less specific path when predicates fail', () => {
    const post = (path: PathMatch): HttpMatch => matchOf({ path, method: 'POST' });
    const table = tableOf([
      routeOf('r', [
        [post({ type: 'exact', value: '/a/b' })],
        [post({ type: 'regex', value: '/a/.' })],
        [post({ type: 'prefix', value: '/a/b' })],
        [pathMatch('prefix', '/a')],
      ]),
    ]);
    expect(found(table, requestOf({ target: '/a/b' }))).to.equal('r/3/0');
    expect(found(table, requestOf({ target: '/a/b', method: 'POST' }))).to.equal('r/0/0');
  });

  it('M-03 joins repeated header lines, M-04 takes a comma as data', () => {
    const table = tableOf([
      routeOf('r', [[matchOf({ headers: [{ name: 'x-ids', type: 'exact', value: '1,2' }] })]]),
    ]);
    const ids = (value: string | readonly string[]): RequestHead =>
      requestOf({ headers: { 'x-ids': value } });
    expect(found(table, ids('1,2'))).to.equal('r/0/0');
    expect(found(table, ids(['1', '2']))).to.equal('r/0/0');
    expect(found(table, ids('1'))).to.equal(undefined);
    expect(found(table, ids('2'))).to.equal(undefined);
    expect(found(table, requestOf())).to.equal(undefined);
  });

  it('matches header and query values by regular expression', () => {
    const table = tableOf([
      routeOf('r', [
        [
          matchOf({
            headers: [{ name: 'x-v', type: 'regex', value: 'v[12]' }],
            queryParams: [{ name: 'q', type: 'regex', value: '[a-z]+' }],
          }),
        ],
      ]),
    ]);
    const ask = (value: string, target: string): string | undefined =>
      found(table, requestOf({ headers: { 'x-v': value }, target }));
    expect(ask('v1', '/?q=abc')).to.equal('r/0/0');
    expect(ask('v12', '/?q=abc')).to.equal(undefined);
    expect(ask('v1', '/?q=1')).to.equal(undefined);
    expect(ask('v1', '/')).to.equal(undefined);
  });

  it('F-08 routes a preflight as the request that it asks about, when the rule can answer it', () => {
    const get = matchOf({ method: 'GET' });
    const cors = {
      type: 'cors' as const,
      allowOrigins: ['*'],
      allowCredentials: false,
      allowMethods: ['GET'],
      allowHeaders: [],
      exposeHeaders: [],
      maxAgeSeconds: 5,
    };
    const preflight = (method: string): RequestHead =>
      requestOf({
        method: 'OPTIONS',
        headers: { origin: 'https://x.test', 'access-control-request-method': method },
      });
    const route = routeOf('r', [[get]]);
    const withCors = { ...route, rules: route.rules.map((rule) => ({ ...rule, filters: [cors] })) };
    expect(found(tableOf([withCors]), preflight('GET'))).to.equal('r/0/0');
    expect(found(tableOf([withCors]), preflight('POST'))).to.equal(undefined);
    expect(found(tableOf([route]), preflight('GET'))).to.equal(undefined);
  });

  it('breaks ties by age, then namespace/name, then rule, then match', () => {
    const any = [[matchOf()]];
    expect(
      found(tableOf([routeOf('a', any, { createdAt: 2 }), routeOf('b', any, { createdAt: 1 })]), requestOf()),
    ).to.equal('b/0/0');
    expect(found(tableOf([routeOf('b', any), routeOf('a', any)]), requestOf())).to.equal('a/0/0');
    const twice = routeOf('r', [[matchOf(), matchOf()], [matchOf()]]);
    expect(found(tableOf([twice]), requestOf())).to.equal('r/0/0');
    const grpc = routeOf('r', any, { kind: 'GRPCRoute', key: 'GRPCRoute/ns/r@Gateway/ns/gw' });
    expect(tableOf([routeOf('r', any), grpc]).match(requestOf())?.source.route.kind).to.equal('GRPCRoute');
  });

  it('agrees with sorting all matches by precedence and taking the first that holds', () => {
    fc.assert(
      fc.property(
        fc.array(routeArbitrary, { maxLength: 6 }),
        fc.array(requestArbitrary, { maxLength: 8 }),
        (bodies, requests) => {
          const routes = bodies.map((body, index) =>
            routeOf(`r${index}`, body.rules, { createdAt: body.createdAt }),
          );
          const table = tableOf(routes);
          for (const request of requests) expect(found(table, request)).to.equal(oracle(routes, request));
        },
      ),
      { numRuns: 300 },
    );
  });
});

const pathValues = ['', '/a', '/a/b', '/a/b/c', '/b', '/a//b', '/abc', '/abc/d', '/a/c', '/b/a', '/c'];
const pathArbitrary: fc.Arbitrary<PathMatch> = fc.oneof(
  fc.record({ type: fc.constant('prefix' as const), value: fc.constantFrom(...pathValues) }),
  fc.record({
    type: fc.constant('exact' as const),
    value: fc.constantFrom('/', ...pathValues.slice(1), '/a/'),
  }),
  fc.record({
    type: fc.constant('regex' as const),
    value: fc.constantFrom('/a.*', '/a/[a-z]+', '/.', '/b|/a/b', '/a(/b)?'),
  }),
);
const valueArbitrary = (names: readonly string[]): fc.Arbitrary<HttpMatch['headers']> =>
  fc.uniqueArray(
    fc.record({
      name: fc.constantFrom(...names),
      type: fc.constantFrom('exact' as const, 'regex' as const),
      value: fc.constantFrom('1', '2'),
    }),
    { maxLength: 2, selector: ({ name }) => name },
  );
const matchArbitrary: fc.Arbitrary<HttpMatch> = fc
  .record({
    path: pathArbitrary,
    method: fc.constantFrom(undefined, 'GET', 'POST'),
    headers: valueArbitrary(['x-a', 'x-b']),
    queryParams: valueArbitrary(['p', 'q']),
  })
  .map(({ method, ...match }) => (method === undefined ? match : { ...match, method }));
const routeArbitrary = fc.record({
  createdAt: fc.integer({ min: 0, max: 2 }),
  rules: fc.array(fc.array(matchArbitrary, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 3 }),
});
const requestArbitrary = fc
  .record({
    method: fc.constantFrom('GET', 'POST', 'PUT'),
    target: fc.constantFrom('/', ...pathValues.slice(1), '/a/', '/a/b/', '/a/b/c/d', '/abcd'),
    query: fc.constantFrom('', '?p=1', '?q=2&p=1', '?p=2'),
    headers: fc.constantFrom({}, { 'x-a': '1' }, { 'x-a': '1', 'x-b': '2' }),
  })
  .map(({ target, query, ...rest }) => requestOf({ ...rest, target: target + query }));

/** The text of the API, naively: collect, sort, take the first. */
function oracle(routes: readonly HttpRoute[], request: RequestHead): string | undefined {
  const all = routes.flatMap((route) =>
    route.rules.flatMap((rule) => rule.matches.map((match, index) => ({ route, rule, match, index }))),
  );
  const holding = all.filter(({ match }) => holds(match, request));
  const ranks = (entry: (typeof all)[number]): readonly (number | string)[] => [
    { exact: 0, regex: 1, prefix: 2 }[entry.match.path.type],
    -entry.match.path.value.length,
    entry.match.path.value,
    entry.match.method === undefined ? 1 : 0,
    -entry.match.headers.length,
    -entry.match.queryParams.length,
    entry.route.createdAt,
    entry.route.name,
    entry.rule.index,
    entry.index,
  ];
  holding.sort((a, b) => {
    const [left, right] = [ranks(a), ranks(b)];
    const differing = left.findIndex((value, index) => value !== right[index]);
    return differing < 0 ? 0 : left[differing]! < right[differing]! ? -1 : 1;
  });
  const [first] = holding;
  return first && `${first.route.name}/${first.rule.index}/${first.index}`;
}

function holds(match: HttpMatch, request: RequestHead): boolean {
  const { type, value } = match.path;
  const url = new URL(request.path, 'http://a.test');
  const path = request.path.slice(0, request.queryStart);
  return (
    (type === 'exact'
      ? path === value
      : type === 'regex'
        ? new RegExp(`^(?:${value})$`).test(path)
        : path === value || path.startsWith(`${value}/`)) &&
    (match.method === undefined || match.method === request.method) &&
    match.headers.every((header) => request.fields.get(header.name) === header.value) &&
    match.queryParams.every((param) => url.searchParams.get(param.name) === param.value)
  );
}
