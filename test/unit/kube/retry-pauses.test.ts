import { expect } from 'chai';
import { NEVER, type Observable } from 'rxjs';

import type { RawList } from '../../../src/kube/list-watch.js';
import { bookmark, line, rawThing } from '../../support/kube/objects.js';
import { failed, list, reflect } from '../../support/kube/reflect.js';
import { marbles } from '../../support/marbles.js';

describe('kube/retry-pauses', () => {
  const a1 = rawThing('a', '1');

  it(
    'resumes where it was after a break, with ever longer pauses, and starts over after a healthy watch',
    marbles(({ cold, scheduler, flush }) => {
      const reset = failed(0);
      const watches = [
        cold<readonly string[]>('a#', { a: [bookmark('7')] }, reset),
        cold<readonly string[]>('#', {}, failed(500)),
        cold<readonly string[]>('#', {}, failed(503)),
        cold<readonly string[]>('10s #', {}, reset),
        NEVER,
      ];
      const { reflector, listWatch } = reflect(scheduler, {
        lists: [cold('(l|)', { l: list('5') })],
        watches,
      });
      const times: string[] = [];
      const push = listWatch.calls.push.bind(listWatch.calls);
      listWatch.calls.push = (...calls: string[]) => {
        times.push(...calls.map((call) => `${scheduler.now()} ${call}`));
        return push(...calls);
      };
      const subscription = reflector.snapshots$.subscribe();
      scheduler.schedule(() => {
        subscription.unsubscribe();
      }, 12_000);
      flush();
      expect(times).to.deep.equal([
        '0 list',
        '0 watch 5',
        '126 watch 7',
        '376 watch 7',
        '876 watch 7',
        '11001 watch 7',
      ]);
    }),
  );

  for (const [what, error, at] of [
    ['was not reached', failed(0), 301],
    ['is behind something that answers 503', failed(503), 301],
    ['refuses', failed(403), 376],
    ['asks for a pause', failed(503, 2000), 2126],
  ] as const) {
    it(
      `lists after ${at} ms when the API server ${what} and is seen to answer after 300`,
      marbles(({ cold, hot, scheduler, expectObservable }) => {
        const lists = [
          cold<RawList>('#', {}, failed(0)),
          cold<RawList>('#', {}, error),
          cold('-(l|)', { l: list('5') }),
        ];
        const options = { recovered$: hot('300ms r') };
        const { printed$ } = reflect(scheduler, { lists, watches: [NEVER], options });
        expectObservable(printed$, '^ 3s !').toBe(`${at}ms a`, { a: '' });
      }),
    );
  }

  it(
    'lists at once when its version has become too old during an outage',
    marbles(({ cold, hot, scheduler, expectObservable }) => {
      const lists = [cold('(l|)', { l: list('5') }), cold('(l|)', { l: list('9', a1) })];
      const away = () => cold<readonly string[]>('#', {}, failed(0));
      const tooOld = cold('a', { a: [line('ERROR', { kind: 'Status', code: 410, message: 'too old' })] });
      const watches = [away(), away(), away(), tooOld, NEVER];
      // 125 ms, 250 ms, and the third pause of 500 ms is cut short.
      const options = { recovered$: hot('400ms r') };
      const { printed$ } = reflect(scheduler, { lists, watches, options });
      expectObservable(printed$, '^ 2s !').toBe('a 399ms b', { a: '', b: 'ns/a=red' });
    }),
  );

  it(
    'is not woken a second time before a watch was healthy',
    marbles(({ cold, hot, scheduler, expectObservable }) => {
      const refused = () => cold<RawList>('#', {}, failed(0));
      const lists = [refused(), refused(), cold('(l|)', { l: list('5') })];
      const lost = cold<readonly string[]>('10s #', {}, failed(0));
      const watches = [lost, cold('a', { a: [line('ADDED', a1)] })];
      // Emits at 100, 111 and 10,371 ms: after the first failure, the second, and that of a watch of 10 s.
      const options = { recovered$: hot('100ms r 10ms r 10259ms r') };
      const { printed$ } = reflect(scheduler, { lists, watches, options });
      expectObservable(printed$, '^ 11s !').toBe('350ms a 10020ms b', { a: '', b: 'ns/a=red' });
    }),
  );

  it(
    'waits as long as the API server asks for',
    marbles(({ cold, scheduler, expectObservable }) => {
      const lists = [cold<RawList>('#', {}, failed(429, 3000)), cold('(l|)', { l: list('5') })];
      const { printed$ } = reflect(scheduler, { lists, watches: [NEVER] });
      expectObservable(printed$, '^ 4s !').toBe('3s a', { a: '' });
    }),
  );

  it(
    'gives up a watch that is silent for 90 s; a bookmark is a sign of life',
    marbles(({ cold, scheduler, flush, expectSubscriptions }) => {
      const silent = cold<readonly string[]>('30s a', { a: [bookmark('7')] });
      const lists = [cold('(l|)', { l: list('5') })];
      const { reflector, listWatch, metrics } = reflect(scheduler, { lists, watches: [silent, NEVER] });
      const subscription = reflector.snapshots$.subscribe();
      scheduler.schedule(() => {
        subscription.unsubscribe();
      }, 125_000);
      expectSubscriptions(silent.subscriptions).toBe('^ 119999ms !');
      flush();
      expect(listWatch.calls).to.deep.equal(['list', 'watch 5', 'watch 7']);
      expect(metrics.seen).to.include('Service error silent');
    }),
  );

  it(
    'resumes at once when the server ends a watch in order, but not in a loop',
    marbles(({ cold, scheduler, flush }) => {
      const ends = (): Observable<readonly string[]> => cold('|');
      const lists = [cold('(l|)', { l: list('5') })];
      const watches = [cold<readonly string[]>('5s |'), ends(), ends(), ends(), NEVER];
      const { reflector, listWatch } = reflect(scheduler, { lists, watches });
      const subscription = reflector.snapshots$.subscribe();
      const counts: number[] = [];
      for (const at of [4999, 5001, 5130, 5400, 6000]) {
        scheduler.schedule(() => counts.push(listWatch.calls.length), at);
      }
      scheduler.schedule(() => {
        subscription.unsubscribe();
      }, 6001);
      flush();
      expect(counts).to.deep.equal([2, 3, 4, 5, 6]);
    }),
  );
});
