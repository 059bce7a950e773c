import { processLatest } from '../../../src/kube/process-latest.js';
import { marbles } from '../../support/marbles.js';

describe('kube/process-latest', () => {
  it(
    'skips what a newer value has replaced',
    marbles(({ hot, cold, expectObservable, expectSubscriptions }) => {
      const source = hot('  -abc----------e---|');
      const apply = cold('   ---(r|)');
      const expected = '    ----r--r---------r|';
      expectObservable(source.pipe(processLatest(() => apply))).toBe(expected);
      expectSubscriptions(apply.subscriptions).toBe(['-^--!', '----^--!', '--------------^--!']);
      expectSubscriptions(source.subscriptions).toBe('^-----------------!');
    }),
  );

  it(
    'runs with the newest of the values that waited',
    marbles(({ hot, cold, expectObservable }) => {
      const source = hot(' -abc--|');
      const expected = '   ----a--(c|)';
      expectObservable(source.pipe(processLatest((value) => cold('---(v|)', { v: value })))).toBe(expected);
    }),
  );

  it(
    'completes only after the run in flight and the one that waits',
    marbles(({ hot, cold, expectObservable }) => {
      const source = hot(' -ab|');
      const expected = '   ----a--(b|)';
      expectObservable(source.pipe(processLatest((value) => cold('---(v|)', { v: value })))).toBe(expected);
    }),
  );

  it(
    'passes on errors of the source, of a run, and of what should begin one',
    marbles(({ hot, cold, expectObservable, expectSubscriptions }) => {
      const run = cold('---r');
      expectObservable(hot('-a-#').pipe(processLatest(() => run))).toBe('---#');
      expectSubscriptions(run.subscriptions).toBe('-^-!');
      expectObservable(hot('-a--').pipe(processLatest(() => cold('-#')))).toBe('--#');
      const refuse = (): never => {
        throw new Error('no');
      };
      expectObservable(hot('-a--').pipe(processLatest(refuse))).toBe('-#', {}, new Error('no'));
    }),
  );

  it(
    'ends the run in flight when it is unsubscribed',
    marbles(({ hot, cold, expectObservable, expectSubscriptions }) => {
      const source = hot(' -a------');
      const run = cold('    -----r');
      expectObservable(source.pipe(processLatest(() => run)), '^---!').toBe('-----');
      expectSubscriptions(run.subscriptions).toBe('-^--!');
      expectSubscriptions(source.subscriptions).toBe('^---!');
    }),
  );
});
