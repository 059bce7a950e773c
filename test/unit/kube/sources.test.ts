import { expect } from 'chai';
import { map, NEVER, of, type Observable } from 'rxjs';

import { filterObjects, narrowToNamespaces } from '../../../src/kube/filter-objects.js';
import { followDiscovery } from '../../../src/kube/follow-discovery.js';
import { followKeys } from '../../../src/kube/follow-keys.js';
import { mergeSnapshots } from '../../../src/kube/merge-snapshots.js';
import type { ServedKinds } from '../../../src/kube/discovery.js';
import type { ResourceSnapshot } from '../../../src/kube/resource-source.js';
import { printThings, type Thing } from '../../support/kube/objects.js';
import { marbles } from '../../support/marbles.js';

function thing(name: string, colour = 'red', namespace = 'ns'): Thing {
  return { apiVersion: 'v1', kind: 'Service', metadata: { name, namespace }, colour };
}

function things(...all: readonly Thing[]): ResourceSnapshot<Thing> {
  return new Map(all.map((one) => [`${one.metadata.namespace ?? ''}/${one.metadata.name}`, one]));
}

const print = map(printThings);
const a = thing('a');
const b = thing('b', 'blue');
const c = thing('c', 'red', 'other');

describe('kube/merge-snapshots', () => {
  it(
    'waits for every part and then holds the objects of all',
    marbles(({ hot, expectObservable, expectSubscriptions }) => {
      const left = hot(' a--b---|', { a: things(a), b: things() });
      const right = hot('--c----|', { c: things(c) });
      expectObservable(mergeSnapshots([left, right]).pipe(print)).toBe('--xy---|', {
        x: 'ns/a=red other/c=red',
        y: 'other/c=red',
      });
      expectSubscriptions(left.subscriptions).toBe(' ^------!');
      expectSubscriptions(right.subscriptions).toBe('^------!');
    }),
  );

  it(
    'is empty without parts',
    marbles(({ expectObservable }) => {
      expectObservable(mergeSnapshots<Thing>([]).pipe(print)).toBe('(a|)', { a: '' });
    }),
  );
});

describe('kube/filter-objects', () => {
  it(
    'says nothing when what is kept did not change, and asks once about each version of an object',
    marbles(({ hot, expectObservable, flush }) => {
      const asked: string[] = [];
      const source = hot('a-b-c-|', { a: things(a, b), b: things(a), c: things(a, thing('d')) });
      const reds$ = source.pipe(
        filterObjects(({ colour, metadata }) => {
          asked.push(metadata.name);
          return colour === 'red';
        }),
        print,
      );
      expectObservable(reds$).toBe('a---b-|', { a: 'ns/a=red', b: 'ns/a=red ns/d=red' });
      flush();
      expect(asked).to.deep.equal(['a', 'b', 'd']);
    }),
  );

  it(
    'passes on errors and ends its subscription',
    marbles(({ hot, expectObservable, expectSubscriptions }) => {
      const source = hot<ResourceSnapshot<Thing>>('a-#', { a: things(a) });
      expectObservable(
        source.pipe(
          filterObjects(() => true),
          print,
        ),
      ).toBe('a-#', { a: 'ns/a=red' });
      expectSubscriptions(source.subscriptions).toBe('^-!');
    }),
  );

  it(
    'narrows to namespaces, also when those change',
    marbles(({ hot, expectObservable, expectSubscriptions }) => {
      const source = hot('    a------', { a: things(a, c) });
      const namespaces = hot('-x--y--', { x: new Set(['ns']), y: new Set(['ns', 'other']) });
      expectObservable(source.pipe(narrowToNamespaces(namespaces), print), '^-----!').toBe('-a--b--', {
        a: 'ns/a=red',
        b: 'ns/a=red other/c=red',
      });
      expectSubscriptions(source.subscriptions).toBe('    ^-----!');
      expectSubscriptions(namespaces.subscriptions).toBe('^-----!');
    }),
  );
});

describe('kube/follow-keys', () => {
  it(
    'opens and closes a source for each key, and is settled when each has answered',
    marbles(({ hot, cold, expectObservable, expectSubscriptions }) => {
      const keys = hot('      x---y--z---', {
        x: new Set<string>(),
        y: new Set(['ns/a', 'ns/gone']),
        z: new Set(['ns/a']),
      });
      const ofA = cold('          -a----', { a: things(a) });
      const ofGone = cold('       --g---', { g: things() });
      const followed$ = followKeys<Thing>(keys, (key) => (key === 'ns/a' ? ofA : ofGone)).pipe(
        map(({ snapshot, settled }) => `${settled ? 'settled' : 'open'} ${printThings(snapshot)}`),
      );
      expectObservable(followed$, '^---------!').toBe('a---bcde---', {
        a: 'settled ',
        b: 'open ',
        c: 'open ns/a=red',
        d: 'settled ns/a=red',
        e: 'settled ns/a=red',
      });
      expectSubscriptions(ofA.subscriptions).toBe('   ----^-----!');
      expectSubscriptions(ofGone.subscriptions).toBe('----^--!');
      expectSubscriptions(keys.subscriptions).toBe('  ^---------!');
    }),
  );

  it(
    'passes on errors of the keys and of a source',
    marbles(({ hot, cold, expectObservable }) => {
      const failing = hot<ReadonlySet<string>>('-#');
      expectObservable(followKeys<Thing>(failing, () => NEVER)).toBe('-#');
      const keys = of<ReadonlySet<string>>(new Set(['ns/a']));
      expectObservable(
        followKeys<Thing>(keys, () => cold<ResourceSnapshot<Thing>>('-#')).pipe(map(() => 'x')),
      ).toBe('x#');
    }),
  );
});

describe('kube/follow-discovery', () => {
  const v1 = { group: 'g', version: 'v1', plural: 'things', namespaced: true };
  const v2 = { ...v1, version: 'v2' };
  const description = {
    kind: 'TCPRoute',
    group: 'g',
    versions: ['v2', 'v1'],
    plural: 'things',
    namespaced: true,
  } as const;
  const served: Readonly<Record<string, ServedKinds>> = {
    n: new Map(),
    o: new Map([['TCPRoute', v1]]),
    t: new Map([['TCPRoute', v2]]),
    // The same once more, as another probe would find it.
    p: new Map([['TCPRoute', { ...v1 }]]),
  };

  it(
    'picks an optional kind up and drops it while running; a new version takes over once it has a list',
    marbles(({ hot, cold, expectObservable, expectSubscriptions }) => {
      const probes = hot('   n--o--p--t-----n--', served);
      const first = cold('      -a', { a: things(a) });
      const second = cold('           --b', { b: things(b) });
      const open = ({ version }: typeof v1): Observable<ResourceSnapshot<Thing>> =>
        version === 'v1' ? first : second;
      const source$ = followDiscovery({ ...description, required: false }, probes, open).pipe(print);
      expectObservable(source$, '^----------------!').toBe('e---a------b---e--', {
        e: '',
        a: 'ns/a=red',
        b: 'ns/b=blue',
      });
      expectSubscriptions(first.subscriptions).toBe(' ---^-----!');
      expectSubscriptions(second.subscriptions).toBe('---------^-----!');
      expectSubscriptions(probes.subscriptions).toBe('^----------------!');
    }),
  );

  it(
    'waits for a required kind and keeps its last snapshot when it goes',
    marbles(({ hot, cold, expectObservable }) => {
      const probes = hot('n--o--n---', served);
      const source$ = followDiscovery<Thing>({ ...description, required: true }, probes, () =>
        cold('-a', { a: things(a) }),
      );
      expectObservable(source$.pipe(print), '^--------!').toBe('----a-----', { a: 'ns/a=red' });
    }),
  );
});
