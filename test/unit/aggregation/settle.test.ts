import { expect } from 'chai';
import { Subject } from 'rxjs';

import { settle } from '../../../src/aggregation/settle.js';
import { marbles } from '../../support/marbles.js';

describe('aggregation/settle', () => {
  const times = { quietMs: 3, maxMs: 8 };

  it(
    'passes on the newest state when nothing came for a while',
    marbles(({ hot, expectObservable, expectSubscriptions, scheduler }) => {
      const source = hot(' -abc------d-----|');
      const expected = '   ------c------d--|';
      expectObservable(source.pipe(settle(times, scheduler))).toBe(expected);
      expectSubscriptions(source.subscriptions).toBe('^---------------!');
    }),
  );

  it(
    'does not wait for the end of a burst that has none',
    marbles(({ hot, expectObservable, scheduler }) => {
      const source = hot(' -a-b-c-d-e-f-g-h-i-j|');
      const expected = '   ---------e---------j|';
      expectObservable(source.pipe(settle(times, scheduler))).toBe(expected);
    }),
  );

  it(
    'passes on a state that waits when the source completes, and nothing twice',
    marbles(({ hot, expectObservable, scheduler }) => {
      expectObservable(hot('-a-|').pipe(settle(times, scheduler))).toBe('---(a|)');
      expectObservable(hot('-a-----|').pipe(settle(times, scheduler))).toBe('----a--|');
      expectObservable(hot('---|').pipe(settle(times, scheduler))).toBe('---|');
    }),
  );

  it('passes on the newest state of a turn when there is no time to wait', async () => {
    const source = new Subject<string>();
    const seen: string[] = [];
    const fail = (error: unknown): void => {
      throw error;
    };
    const subscription = source
      .pipe(settle({ quietMs: 0, maxMs: 0 }))
      .subscribe({ next: (value) => seen.push(value), error: fail });
    source.next('a');
    source.next('b');
    expect(seen).to.deep.equal([]);
    await Promise.resolve();
    expect(seen).to.deep.equal(['b']);
    source.next('c');
    subscription.unsubscribe();
    await Promise.resolve();
    expect(seen).to.deep.equal(['b']);
  });

  it(
    'passes on an error at once',
    marbles(({ hot, expectObservable, scheduler }) => {
      expectObservable(hot('-a-#').pipe(settle(times, scheduler))).toBe('---#');
    }),
  );

  it(
    'drops what waits when it is unsubscribed',
    marbles(({ hot, expectObservable, expectSubscriptions, scheduler }) => {
      const source = hot(' -a-------');
      expectObservable(source.pipe(settle(times, scheduler)), '^--!').toBe('----');
      expectSubscriptions(source.subscriptions).toBe('^--!');
    }),
  );
});
