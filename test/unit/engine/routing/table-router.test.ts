import { expect } from 'chai';
import type { HttpRoute, VirtualHost } from '../../../../src/ir/http.js';
import type { Listener } from '../../../../src/ir/listener.js';
import { explainRoute } from '../../../../src/engine/routing/explain-route.js';
import type { RuleEntry } from '../../../../src/engine/exchange/route-entry.js';
import { matchRequest, TableRouter } from '../../../../src/engine/routing/table-router.js';
import {
  RoutingCompiler,
  type RoutingConfiguration,
} from '../../../../src/engine/routing/routing-compiler.js';
import {
  type ListenerTable,
  type RoutingTables,
  serverBySni,
} from '../../../../src/engine/routing/routing-tables.js';
import { contextOf } from '../../../support/engine/exchange-fixture.js';
import {
  listenerOf,
  matchOf,
  pathMatch,
  requestOf,
  routeOf,
  ruleEntryOf,
  serverOf,
} from '../../../support/engine/routing-fixture.js';

function hostOf(key: string, hostname: string, routes: readonly HttpRoute[]): VirtualHost {
  return { key, hostname, routes: routes.map((route) => route.key) };
}

function only<R>(tables: RoutingTables<R>): ListenerTable<R> {
  return [...tables.listeners()][0]!;
}

const compile = (configuration: RoutingConfiguration): RoutingTables<RuleEntry> =>
  new RoutingCompiler(ruleEntryOf).compile(configuration);

function outcomeOf(result: ReturnType<typeof matchRequest>): string | number {
  return typeof result === 'number' ? result : result.rule.route.replace(/^HTTPRoute.ns.|@.*/g, '');
}

describe('matchRequest', () => {
  it('A-04 A-05 asks only the most specific server, and in it the most specific virtual host', () => {
    const any = routeOf('any', [[matchOf()]]);
    const deep = routeOf('deep', [[pathMatch('prefix', '/x')]]);
    const table = only(
      compile({
        listeners: [
          listenerOf([
            serverOf('', ['any']),
            serverOf('*.a.test', ['wild', 'exact']),
            serverOf('b.test', []),
          ]),
        ],
        virtualHosts: [
          hostOf('any', '', [any]),
          hostOf('wild', '*.a.test', [any]),
          hostOf('exact', 'c.a.test', [deep]),
        ],
        routes: [any, deep],
      }),
    );
    const ask = (authority: string, target = '/'): string | number =>
      outcomeOf(matchRequest(table, undefined, requestOf({ authority, target })));
    expect(ask('z.test')).to.equal('any');
    expect(ask('z.a.test')).to.equal('any');
    expect(ask('c.a.test', '/x/y')).to.equal('deep');
    expect(ask('c.a.test', '/y'), 'no fall-through between host tiers').to.equal(404);
    expect(ask('b.test'), 'no fall-through between servers').to.equal(404);
    expect(ask('B.test:80')).to.equal(404);
    expect(ask('Z.test.:80')).to.equal('any');
  });

  describe('421 by SNI (the table of the conformance suite)', () => {
    const route = routeOf('r', [[matchOf()]]);
    const hostnames = ['', 'second-example.org', '*.wildcard.org', 'fourth-example.wildcard.org'];
    const table = only(
      compile({
        listeners: [
          listenerOf(
            hostnames.map((hostname) => serverOf(hostname, [`host ${hostname}`])),
            { protocol: 'tls' },
          ),
        ],
        virtualHosts: hostnames.map((hostname) =>
          hostOf(`host ${hostname}`, hostname === '' ? 'example.org' : hostname, [route]),
        ),
        routes: [route],
      }),
    );
    const cases: readonly (readonly [sni: string | undefined, host: string, outcome: string | number])[] = [
      ['example.org', 'example.org', 'r'],
      ['example.org', 'second-example.org', 421],
      ['example.org', 'unknown.org', 404],
      ['second-example.org', 'second-example.org', 'r'],
      ['second-example.org', 'example.org', 421],
      ['second-example.org', 'unknown.org', 421],
      ['third-example.wildcard.org', 'third-example.wildcard.org', 'r'],
      ['third-example.wildcard.org', 'fith-example.wildcard.org', 'r'],
      ['third-example.wildcard.org', 'fourth-example.wildcard.org', 421],
      ['third-example.wildcard.org', 'second-example.org', 421],
      ['third-example.wildcard.org', 'unknown.org', 421],
      ['fourth-example.wildcard.org', 'fourth-example.wildcard.org', 'r'],
      ['fourth-example.wildcard.org', 'fith-example.wildcard.org', 421],
      ['unknown.org', 'example.org', 'r'],
      ['unknown.org', 'unknown.org', 404],
      [undefined, 'example.org', 'r'],
    ];
    for (const [sni, host, outcome] of cases) {
      it(`SNI ${sni ?? 'absent'}, Host ${host}: ${outcome}`, () => {
        const sniServer = serverBySni(table, sni)?.server.hostname;
        expect(outcomeOf(matchRequest(table, sniServer, requestOf({ authority: host })))).to.equal(outcome);
      });
    }
  });
});

describe('TableRouter', () => {
  it('routes with the newest tables', () => {
    const before = routeOf('before', [[matchOf()]]);
    const after = routeOf('after', [[matchOf()]]);
    const compiler = new RoutingCompiler(ruleEntryOf);
    const listener = listenerOf([serverOf('', ['h'])]);
    const tablesOf = (route: HttpRoute): RoutingTables<RuleEntry> =>
      compiler.compile({ listeners: [listener], virtualHosts: [hostOf('h', '', [route])], routes: [route] });
    const router = new TableRouter(tablesOf(before));
    const context = contextOf({ listener: listener.key });
    expect(outcomeOf(router.route(context, requestOf()))).to.equal('before');
    router.swap(tablesOf(after));
    expect(outcomeOf(router.route(context, requestOf()))).to.equal('after');
    expect(router.route(contextOf({ listener: 'tcp/elsewhere:1' }), requestOf())).to.equal(404);
    expect(router.route(contextOf({ listener: listener.key, sniServer: 'x.test' }), requestOf())).to.equal(
      421,
    );
  });
});

describe('RoutingCompiler', () => {
  const a = routeOf('a', [[matchOf()]]);
  const b = routeOf('b', [[matchOf()]]);
  const hostA = hostOf('ha', 'a.test', [a]);
  const hostB = hostOf('hb', 'b.test', [b]);
  const listener: Listener = listenerOf([serverOf('', ['ha', 'hb'])]);
  const other: Listener = listenerOf([serverOf('', ['ha'])], { key: 'tcp/127.0.0.1:81' });
  const base: RoutingConfiguration = {
    listeners: [listener, other],
    virtualHosts: [hostA, hostB],
    routes: [a, b],
  };
  const tableFor = (tables: RoutingTables<string>, host: string) =>
    tables.listener(listener.key)?.servers.find(host)?.hosts.find(host);

  it('recompiles only what changed', () => {
    const compiled: string[] = [];
    const compiler = new RoutingCompiler((rule, route) => {
      compiled.push(`${route.name}/${rule.index}`);
      return route.name;
    });
    const first = compiler.compile(base);
    const newB = { ...b, rules: b.rules };
    const second = compiler.compile({ ...base, routes: [a, newB] });
    expect(compiled).to.deep.equal(['a/0', 'b/0', 'b/0']);
    expect(tableFor(second, 'a.test')).to.equal(tableFor(first, 'a.test'));
    expect(tableFor(second, 'b.test')).to.not.equal(tableFor(first, 'b.test'));
    expect(second.listener(other.key), 'a listener without a change').to.equal(first.listener(other.key));
    expect(second.listener(listener.key)).to.not.equal(first.listener(listener.key));
    const third = compiler.compile({ ...base, routes: [a, newB] });
    expect(third.listener(listener.key)).to.equal(second.listener(listener.key));
    expect(tableFor(third, 'b.test')?.paths.match(requestOf())?.rule).to.equal('b');
  });

  it('leaves out keys without an element and drops what is gone', () => {
    const compiler = new RoutingCompiler((_rule, route) => route.name);
    compiler.compile(base);
    const tables = compiler.compile({ listeners: [listener], virtualHosts: [hostA], routes: [] });
    expect(tables.listener(other.key)).to.equal(undefined);
    expect(tableFor(tables, 'b.test')).to.equal(undefined);
    expect(tableFor(tables, 'a.test')?.paths.match(requestOf())).to.equal(undefined);
  });
});

describe('explainRoute', () => {
  const route = routeOf('r', [
    [pathMatch('exact', '/x')],
    [matchOf({ method: 'PUT' }), matchOf({ method: 'POST' })],
  ]);
  const named = {
    ...route,
    rules: route.rules.map((rule) => (rule.index === 1 ? { ...rule, name: 'write' } : rule)),
  };
  const relay = { ...serverOf('relay.test', []), application: { type: 'stream' as const, backends: [] } };
  const tables = compile({
    listeners: [
      listenerOf([serverOf('a.test', ['h'])]),
      listenerOf([serverOf('a.test', ['h']), serverOf('b.test', []), relay], {
        key: 'tcp/127.0.0.1:443',
        port: 443,
        protocol: 'tls',
      }),
    ],
    virtualHosts: [hostOf('h', 'a.test', [named])],
    routes: [named],
  });
  const http = { listener: 'tcp/127.0.0.1:80' };

  it('names listener, server, virtual host, route, rule and match', () => {
    expect(explainRoute(tables, http, requestOf({ method: 'POST', authority: 'A.test:80' }))).to.deep.equal({
      outcome: 'found',
      host: 'a.test',
      listener: 'tcp/127.0.0.1:80',
      listeners: ['Gateway/ns/gw/a.test'],
      serverHostname: 'a.test',
      virtualHost: 'h',
      route: named.key,
      ruleIndex: 1,
      matchIndex: 1,
      ruleName: 'write',
    });
  });

  it('says how far a request got', () => {
    const outcome = (listener: string, sni: string | undefined, authority: string, target = '/'): string =>
      explainRoute(
        tables,
        { listener, ...(sni === undefined ? {} : { sni }) },
        requestOf({ authority, target }),
      ).outcome;
    expect(outcome('tcp/nowhere:1', undefined, 'a.test')).to.equal('no-listener');
    expect(outcome(http.listener, undefined, 'z.test')).to.equal('no-server');
    expect(outcome(http.listener, undefined, 'a.test')).to.equal('no-route');
    expect(outcome('tcp/127.0.0.1:443', 'b.test', 'b.test')).to.equal('no-host');
    expect(outcome(http.listener, undefined, 'a.test', '/x')).to.equal('found');
    expect(outcome('tcp/127.0.0.1:443', undefined, 'a.test')).to.equal('no-server');
    expect(outcome('tcp/127.0.0.1:443', 'a.test', 'b.test')).to.equal('misdirected');
    expect(outcome('tcp/127.0.0.1:443', 'a.test', 'z.test')).to.equal('misdirected');
    expect(outcome('tcp/127.0.0.1:443', 'a.test', 'a.test', '/x')).to.equal('found');
    expect(outcome('tcp/127.0.0.1:443', 'relay.test', 'relay.test')).to.equal('no-host');
  });
});
