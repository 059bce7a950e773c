import { expect } from 'chai';
import { map, NEVER } from 'rxjs';

import type { RawList } from '../../../src/kube/list-watch.js';
import { bookmark, line, rawThing, type Thing } from '../../support/kube/objects.js';
import { failed, list, reflect } from '../../support/kube/reflect.js';
import { marbles } from '../../support/marbles.js';

describe('kube/reflector', () => {
  const a1 = rawThing('a', '1');
  const b2 = rawThing('b', '2', 'blue');

  it(
    'says nothing before the first list is complete, then lists once and watches from its version',
    marbles(({ cold, scheduler, flush, expectObservable, expectSubscriptions }) => {
      const firstList = cold('  ---(l|)', { l: list('5', a1, b2) });
      const firstWatch = cold('    ----e', { e: [line('DELETED', rawThing('a', '6'))] });
      const { printed$, listWatch } = reflect(scheduler, { lists: [firstList], watches: [firstWatch] });
      expectObservable(printed$, '^----------!').toBe('---a---b', {
        a: 'ns/a=red ns/b=blue',
        b: 'ns/b=blue',
      });
      expectSubscriptions(firstList.subscriptions).toBe('^--!');
      expectSubscriptions(firstWatch.subscriptions).toBe('---^-------!');
      flush();
      expect(listWatch.calls).to.deep.equal(['list', 'watch 5']);
    }),
  );

  it(
    'is synced only after a complete list, however often the list fails before',
    marbles(({ cold, scheduler, expectObservable }) => {
      const lists = [cold<RawList>('#', {}, failed(500)), cold('-(l|)', { l: list('5') })];
      const { reflector, printed$ } = reflect(scheduler, { lists, watches: [NEVER] });
      expectObservable(printed$, '^ 200ms !').toBe('126ms a', { a: '' });
      expectObservable(
        reflector.health$.pipe(map(({ synced, lastError }) => `${synced} ${lastError ?? '-'}`)),
      ).toBe('(ab) 122ms c', { a: 'false -', b: 'false GET', c: 'true -' });
    }),
  );

  it(
    'emits one snapshot for a batch of events and none for a change of what nobody reads',
    marbles(({ cold, scheduler, flush, expectObservable }) => {
      const watch = cold('a-b-c', {
        a: [line('ADDED', rawThing('c', '6')), line('MODIFIED', rawThing('c', '7', 'green'))],
        b: [line('MODIFIED', rawThing('a', '8')), bookmark('9')],
        c: [line('MODIFIED', rawThing('a', '10', 'pink'))],
      });
      const { printed$, metrics } = reflect(scheduler, {
        lists: [cold('(l|)', { l: list('5', a1) })],
        watches: [watch],
      });
      expectObservable(printed$, '^----!').toBe('(ab)c', {
        a: 'ns/a=red',
        b: 'ns/a=red ns/c=green',
        c: 'ns/a=pink ns/c=green',
      });
      flush();
      expect(metrics.seen).to.include('Service event bookmark');
    }),
  );

  it(
    'keeps the object itself when nothing that is read changed, in events and in lists',
    marbles(({ cold, scheduler, flush }) => {
      const watch = cold('a', { a: [line('ADDED', b2), line('MODIFIED', rawThing('a', '8'))] });
      const lists = [cold('(l|)', { l: list('5', a1) })];
      const { reflector } = reflect(scheduler, { lists, watches: [watch] });
      const seen: (Thing | undefined)[] = [];
      const subscription = reflector.snapshots$.subscribe({
        next: (things) => seen.push(things.get('ns/a')),
        error: (error: unknown) => {
          throw error;
        },
      });
      scheduler.schedule(() => {
        subscription.unsubscribe();
      }, 10);
      flush();
      expect(seen).to.have.length(2);
      expect(seen[0]).to.equal(seen[1]);
    }),
  );

  it(
    'relists at once when the version is too old, and finds what was deleted meanwhile',
    marbles(({ cold, scheduler, flush, expectObservable }) => {
      const lists = [cold('(l|)', { l: list('5', a1, b2) }), cold('-(l|)', { l: list('9', b2) })];
      const watches = [cold<readonly string[]>('---#', {}, failed(410)), NEVER];
      const { printed$, listWatch, metrics } = reflect(scheduler, { lists, watches });
      expectObservable(printed$, '^------!').toBe('a---b', { a: 'ns/a=red ns/b=blue', b: 'ns/b=blue' });
      flush();
      expect(listWatch.calls).to.deep.equal(['list', 'watch 5', 'list', 'watch 9']);
      expect(metrics.seen).to.deep.equal([
        'Service relist initial',
        'Service error 410',
        'Service relist expired',
      ]);
    }),
  );

  it(
    'takes an ERROR event of code 410 for the same, and backs off when it comes again and again',
    marbles(({ cold, scheduler, flush }) => {
      const gone = () => cold('a', { a: [line('ERROR', { kind: 'Status', code: 410, message: 'too old' })] });
      const full = () => cold('(l|)', { l: list('5', a1) });
      const setup = { lists: [full(), full(), full(), full()], watches: [gone(), gone(), gone(), NEVER] };
      const { reflector, listWatch } = reflect(scheduler, setup);
      const times: number[] = [];
      const calls = listWatch.calls;
      calls.push = (...more: string[]) => {
        times.push(scheduler.now());
        return Array.prototype.push.apply(calls, more);
      };
      const subscription = reflector.snapshots$.subscribe();
      scheduler.schedule(() => {
        subscription.unsubscribe();
      }, 2000);
      flush();
      expect(calls.filter((call) => call === 'list')).to.have.length(4);
      expect(times).to.deep.equal([0, 0, 0, 0, 250, 250, 750, 750]);
    }),
  );

  for (const [what, bad] of [
    ['no JSON', '{"type":"ADD'],
    ['a scalar', '5'],
    ['no event', '{"kind":"Status"}'],
    ['an event without a version', '{"type":"ADDED","object":{"metadata":{"name":"x"}}}'],
    ['another error', line('ERROR', { code: 500, message: 'decode failed' })],
  ] as const) {
    it(
      `relists after a line that is ${what}, and keeps what came before it`,
      marbles(({ cold, scheduler, flush, expectObservable }) => {
        const watches = [cold('-a', { a: [line('ADDED', b2), bad, line('DELETED', b2)] }), NEVER];
        const lists = [cold('(l|)', { l: list('5', a1) }), cold('(l|)', { l: list('9', a1, b2) })];
        const { printed$, listWatch, metrics } = reflect(scheduler, { lists, watches });
        expectObservable(printed$, '^ 200ms !').toBe('ab', { a: 'ns/a=red', b: 'ns/a=red ns/b=blue' });
        flush();
        expect(listWatch.calls).to.deep.equal(['list', 'watch 5', 'list', 'watch 9']);
        expect(metrics.seen).to.include('Service relist broken');
      }),
    );
  }

  it(
    'lists everything again after the resync time, without a word when nothing changed',
    marbles(({ cold, scheduler, flush, expectObservable }) => {
      const lists = [cold('(l|)', { l: list('5', a1) }), cold('(l|)', { l: list('9', a1) })];
      const beat = () => cold('30s a 29999ms a', { a: [bookmark('6')] });
      const options = { resyncMs: 100_000, silenceMs: 1e9 };
      const { printed$, listWatch, metrics } = reflect(scheduler, {
        lists,
        watches: [beat(), NEVER],
        options,
      });
      expectObservable(printed$, '^ 91s !').toBe('a', { a: 'ns/a=red' });
      flush();
      expect(listWatch.calls).to.deep.equal(['list', 'watch 5', 'list', 'watch 9']);
      expect(metrics.seen).to.include('Service relist resync');
    }),
  );

  it(
    'keeps the last good version of an object that cannot be read, says so, and serves the others',
    marbles(({ cold, scheduler, flush, expectObservable }) => {
      const watch = cold('-a-b-c', {
        a: [line('MODIFIED', rawThing('a', '6', '')), line('ADDED', rawThing('c', '7', ''))],
        b: [line('ADDED', b2)],
        c: [line('MODIFIED', rawThing('a', '8', 'pink'))],
      });
      const lists = [cold('(l|)', { l: list('5', a1) })];
      const { reflector, printed$, logs } = reflect(scheduler, { lists, watches: [watch] });
      expectObservable(printed$, '^------!').toBe('aa-b-c', {
        a: 'ns/a=red',
        b: 'ns/a=red ns/b=blue',
        c: 'ns/a=pink ns/b=blue',
      });
      const faults$ = reflector.faults$.pipe(
        map((faults) => [...faults.values()].map(({ key, keptLastGood }) => `${key} ${keptLastGood}`).join()),
      );
      expectObservable(faults$, '^------!').toBe('ab-b-c', {
        a: '',
        b: 'ns/a true,ns/c false',
        c: 'ns/c false',
      });
      flush();
      const problems = logs.filter(({ msg }) => msg === 'object cannot be read');
      expect(problems.map(({ key, problem }) => `${String(key)}: ${String(problem)}`)).to.deep.equal([
        'ns/a: spec.colour must not be empty',
        'ns/c: spec.colour must not be empty',
      ]);
    }),
  );

  it(
    'does not keep the last good version of an object that was made anew under the same name',
    marbles(({ cold, scheduler, expectObservable }) => {
      const watch = cold('-a', { a: [line('MODIFIED', rawThing('a', '6', '', { uid: 'another' }))] });
      const { printed$ } = reflect(scheduler, {
        lists: [cold('(l|)', { l: list('5', a1) })],
        watches: [watch],
      });
      expectObservable(printed$, '^--!').toBe('ab', { a: 'ns/a=red', b: '' });
    }),
  );

  it(
    'Z-05 names the kind in log and metric when RBAC forbids it, and goes on trying',
    marbles(({ cold, scheduler, flush, expectObservable }) => {
      const forbidden = () => cold<RawList>('#', {}, failed(403));
      const lists = [forbidden(), forbidden(), cold('(l|)', { l: list('5', a1) })];
      const { printed$, metrics, logs } = reflect(scheduler, { lists, watches: [NEVER] });
      expectObservable(printed$, '^ 500ms !').toBe('375ms a', { a: 'ns/a=red' });
      flush();
      expect(metrics.seen.filter((text) => text === 'Service error 403')).to.have.length(2);
      expect(logs[0]).to.include({ kind: 'Service', reason: '403', msg: 'watch failed' });
    }),
  );

  it(
    'asks for discovery when the kind is not there',
    marbles(({ cold, scheduler, flush }) => {
      let asked = 0;
      const options = {
        onMissing: () => {
          asked += 1;
        },
      };
      const lists = [cold<RawList>('#', {}, failed(404))];
      const { reflector } = reflect(scheduler, { lists, watches: [], options });
      const subscription = reflector.snapshots$.subscribe();
      scheduler.schedule(() => {
        subscription.unsubscribe();
      }, 100);
      flush();
      expect(asked).to.equal(1);
    }),
  );

  it(
    'shares one list and watch between followers and ends both with the last of them',
    marbles(({ cold, hot, scheduler, expectObservable, expectSubscriptions }) => {
      const watch = hot<readonly string[]>('------');
      const firstList = cold('-(l|)', { l: list('5', a1) });
      const { printed$ } = reflect(scheduler, { lists: [firstList], watches: [watch] });
      expectObservable(printed$, '  ^--!').toBe('-a', { a: 'ns/a=red' });
      expectObservable(printed$, '  --^---!').toBe('--a', { a: 'ns/a=red' });
      expectSubscriptions(firstList.subscriptions).toBe('^!');
      expectSubscriptions(watch.subscriptions).toBe('-^----!');
    }),
  );
});
