import { expect } from 'chai';
import fc from 'fast-check';

import {
  RoutingCompiler,
  type RoutingConfiguration,
} from '../../../../src/engine/routing/routing-compiler.js';
import type { RoutingTables } from '../../../../src/engine/routing/routing-tables.js';
import type { HttpRoute, VirtualHost } from '../../../../src/ir/http.js';
import type { Listener } from '../../../../src/ir/listener.js';
import {
  listenerOf,
  pathMatch,
  requestOf,
  routeOf,
  serverOf,
} from '../../../support/engine/routing-fixture.js';

const HOSTNAMES = ['', '*.test', 'a.test', 'b.test'];
const NAMES = ['a.test', 'b.test', 'c.test', 'other'];
const PATHS = ['/x', '/y', '/x/z'];
const ROUTES = ['r', 's', 't'];

const route = fc
  .tuple(
    fc.constantFrom(...ROUTES),
    fc.array(fc.tuple(fc.constantFrom('exact', 'prefix', 'regex'), fc.constantFrom(...PATHS)), {
      maxLength: 3,
    }),
  )
  .map(([name, matches]): Edit => ({
    section: 'routes',
    element: routeOf(name, [matches.map(([type, value]) => pathMatch(type, value))]),
  }));
const virtualHost = fc
  .tuple(fc.constantFrom(...HOSTNAMES), fc.subarray(ROUTES), fc.constantFrom('k', 'l'))
  .map(([hostname, routes, key]): Edit => ({
    section: 'virtualHosts',
    element: {
      key: `${key}|${hostname}`,
      hostname,
      routes: routes.map((name) => routeOf(name, []).key),
    },
  }));
const listener = fc
  .tuple(fc.constantFrom('one', 'two'), fc.constantFrom('k', 'l'), fc.subarray(HOSTNAMES))
  .map(([key, hosts, hostnames]): Edit => ({
    section: 'listeners',
    element: listenerOf(
      [
        serverOf(
          '',
          hostnames.map((hostname) => `${hosts}|${hostname}`),
        ),
        serverOf('b.test', ['k|b.test']),
      ],
      { key },
    ),
  }));
const removal = fc
  .tuple(fc.constantFrom('routes', 'virtualHosts', 'listeners'), fc.nat())
  .map(([section, place]): Edit => ({ section, place }));

type Edit =
  | { readonly section: 'routes'; readonly element: HttpRoute }
  | { readonly section: 'virtualHosts'; readonly element: VirtualHost }
  | { readonly section: 'listeners'; readonly element: Listener }
  | { readonly section: keyof RoutingConfiguration; readonly place: number };

function edited(configuration: RoutingConfiguration, edit: Edit): RoutingConfiguration {
  const before: readonly { readonly key: string }[] = configuration[edit.section];
  if ('place' in edit)
    return { ...configuration, [edit.section]: before.filter((_, at) => at !== edit.place % 3) };
  const place = before.findIndex(({ key }) => key === edit.element.key);
  const after = place < 0 ? [...before, edit.element] : before.with(place, edit.element);
  return { ...configuration, [edit.section]: after };
}

/** What every request is answered on every listener. */
function answers(tables: RoutingTables<string>, { listeners }: RoutingConfiguration): readonly unknown[] {
  return listeners.flatMap(({ key }) =>
    NAMES.flatMap((authority) =>
      ['/', '/x', '/x/z/1', '/y'].map((target) => {
        const hosts = tables.listener(key)?.servers.find(authority)?.hosts;
        const request = requestOf({ authority, target });
        const found = hosts?.match(request);
        expect(found).to.equal(hosts?.find(authority)?.paths.match(request));
        return [key, authority, target, hosts?.find(authority)?.virtualHost, found?.rule];
      }),
    ),
  );
}

describe('incremental RoutingCompiler', () => {
  it('answers what one without a memory answers, and leaves the tables before as they were', () => {
    const compileRule = (_: unknown, { name }: HttpRoute): string => name;
    const edits = fc.array(fc.array(fc.oneof(route, virtualHost, listener, removal), { maxLength: 3 }), {
      minLength: 3,
      maxLength: 25,
    });
    fc.assert(
      fc.property(edits, (sequence) => {
        const compiler = new RoutingCompiler(compileRule);
        let configuration: RoutingConfiguration = { listeners: [], virtualHosts: [], routes: [] };
        let last = { tables: compiler.compile(configuration), configuration };
        for (const pass of sequence) {
          const before = answers(last.tables, last.configuration);
          configuration = pass.reduce(edited, configuration);
          const tables = compiler.compile(configuration);
          const cold = new RoutingCompiler(compileRule).compile(configuration);
          expect(answers(tables, configuration)).to.deep.equal(answers(cold, configuration));
          expect(answers(last.tables, last.configuration)).to.deep.equal(before);
          last = { tables, configuration };
        }
      }),
    );
  });

  it('has compiled nothing when a rule cannot be compiled', () => {
    const broken = routeOf('broken', [[pathMatch('prefix', '/')]]);
    const good = routeOf('good', [[pathMatch('prefix', '/')]]);
    const hosts = [{ key: 'h', hostname: '', routes: [good.key, broken.key] }];
    const base = { listeners: [listenerOf([serverOf('', ['h'])])], virtualHosts: hosts };
    const compiler = new RoutingCompiler((_, { name }) => {
      if (name === 'broken') throw new Error(name);
      return name;
    });
    expect(() => compiler.compile({ ...base, routes: [good, broken] })).to.throw('broken');
    const tables = compiler.compile({ ...base, routes: [good] });
    expect(
      tables.listener(base.listeners[0]!.key)?.servers.find('')?.hosts.match(requestOf())?.rule,
    ).to.equal('good');
  });
});
