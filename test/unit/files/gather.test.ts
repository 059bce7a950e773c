import { map } from 'rxjs';

import { gather } from '../../../src/files/gather.js';
import { marbles } from '../../support/marbles.js';

describe('gather', () => {
  const patience = { quietMs: 3, longestMs: 8 };
  const text = map((values: readonly string[]) => values.join(''));

  it(
    'gives a batch when it has been quiet',
    marbles(({ hot, expectObservable, expectSubscriptions }) => {
      const source = hot('-ab--c-------d---|');
      expectObservable(source.pipe(gather(patience), text)).toBe('--------1-------2|', { 1: 'abc', 2: 'd' });
      expectSubscriptions(source.subscriptions).toBe('^----------------!');
    }),
  );

  it(
    'does not wait for ever',
    marbles(({ hot, expectObservable }) => {
      const source = hot('-a-b-c-d-e-f-g-h-i-j-k|');
      expectObservable(source.pipe(gather(patience), text)).toBe('---------1---------2--(3|)', {
        1: 'abcde',
        2: 'fghij',
        3: 'k',
      });
    }),
  );

  it(
    'gives what it has at the end, and passes an error on',
    marbles(({ hot, expectObservable }) => {
      expectObservable(hot('-a|').pipe(gather(patience), text)).toBe('--(1|)', { 1: 'a' });
      expectObservable(hot('|').pipe(gather<string>(patience), text)).toBe('|');
      expectObservable(hot('-a#').pipe(gather(patience), text)).toBe('--#');
    }),
  );

  it(
    'forgets everything when nobody listens any more',
    marbles(({ hot, expectObservable, expectSubscriptions }) => {
      const source = hot('-a-------');
      expectObservable(source.pipe(gather(patience), text), '^-!').toBe('---');
      expectSubscriptions(source.subscriptions).toBe('^-!');
    }),
  );
});
