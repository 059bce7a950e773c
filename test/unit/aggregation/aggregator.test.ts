import { assert } from 'chai';
import { defer, map, type Observable } from 'rxjs';
import { TestScheduler } from 'rxjs/testing';

import { Aggregator, type Pass } from '../../../src/aggregation/aggregator.js';
import type { PassOutcome } from '../../../src/aggregation/control-pass.js';
import type { Kind } from '../../../src/apis/kinds.js';
import type { KubernetesObject } from '../../../src/apis/meta.js';
import type { ClusterSnapshot } from '../../../src/apis/cluster-snapshot.js';
import { EMPTY_CONFIGURATION } from '../../../src/ir/proxy-configuration.js';
import type { ListenerOutcome } from '../../../src/ir/proxy-engine.js';
import type { ResourceSource } from '../../../src/kube/resource-source.js';

const SERVING: ListenerOutcome = { state: 'serving' };
const FAILED: ListenerOutcome = { state: 'failed', code: 'EADDRINUSE', message: 'taken' };

const outcome = (listener: ListenerOutcome): PassOutcome => ({
  configuration: EMPTY_CONFIGURATION,
  statuses: [],
  events: [],
  infrastructure: [],
  result: { revision: 1, listeners: new Map([['tcp/127.0.0.1:80', listener]]) },
});

/** Names of the Gateways and HTTPRoutes of each snapshot that a pass was run for, such as `ab:x`. */
const seen = (cluster: ClusterSnapshot): string =>
  `${[...cluster.Gateway.keys()].join('')}:${[...cluster.HTTPRoute.keys()].join('')}`;

describe('Aggregator', () => {
  interface Run {
    readonly gateways: string;
    readonly routes: string;
    /** Time and outcomes of the passes, one after the other. */
    readonly passes: readonly { readonly marble: string; readonly listener: ListenerOutcome }[];
    readonly expected: string;
    readonly ran: readonly string[];
    readonly settleMs?: number;
    readonly unsubscribe?: string;
  }

  function check({ gateways, routes, passes, expected, ran, settleMs = 2, unsubscribe }: Run): void {
    const ranFor: string[] = [];
    const scheduler = new TestScheduler((actual: unknown, wanted: unknown) => {
      assert.deepEqual(actual, wanted);
    });
    scheduler.run(({ hot, cold, expectObservable }) => {
      const source = (kind: Kind, marble: string): ResourceSource => ({
        kind,
        snapshots$: hot(marble).pipe(
          // Each letter is a snapshot with one object of that name.
          map((letter) => new Map([[letter, {} as KubernetesObject]])),
        ),
      });
      let run = 0;
      const pass: Pass = {
        run(cluster: ClusterSnapshot): Observable<PassOutcome> {
          return defer(() => {
            ranFor.push(seen(cluster));
            const { marble = '(p|)', listener = SERVING } = passes[Math.min(run, passes.length - 1)] ?? {};
            run += 1;
            return cold(marble, { p: outcome(listener) });
          });
        },
      };
      const { outcomes$ } = new Aggregator([source('Gateway', gateways), source('HTTPRoute', routes)], pass, {
        settleMs,
        scheduler,
      });
      expectObservable(outcomes$.pipe(map(() => 'o')), unsubscribe).toBe(expected);
    });
    assert.deepEqual(ranFor, ran);
  }

  const quick = [{ marble: '(p|)', listener: SERVING }];

  it('invariant 1: no configuration is applied before every source has synced', () => {
    check({
      gateways: 'abc---',
      routes: '-----x',
      passes: quick,
      expected: '-------o',
      ran: ['c:x'],
    });
  });

  it('makes one pass of a burst', () => {
    check({
      gateways: 'a--bcd----',
      routes: 'x---------',
      passes: quick,
      expected: '--o----o--',
      ran: ['a:x', 'd:x'],
    });
  });

  it('does not let a burst without end hold everything up', () => {
    check({
      gateways: 'abcdefghijklm-----',
      routes: 'x-----------------',
      passes: quick,
      expected: '----------o---o---',
      ran: ['k:x', 'm:x'],
    });
  });

  it('runs one pass at a time, the next for the newest state', () => {
    check({
      gateways: 'a---b----c----d-------------------',
      routes: 'x---------------------------------',
      passes: [{ marble: '--------------------(p|)', listener: SERVING }, ...quick],
      expected: '----------------------(oo)',
      ran: ['a:x', 'd:x'],
    });
  });

  it('tries again while a listener could not be opened, and stops when it could', () => {
    check({
      gateways: 'a',
      routes: 'x',
      passes: [{ marble: '(p|)', listener: FAILED }, { marble: '(p|)', listener: FAILED }, ...quick],
      expected: '--o 4999ms o 4999ms o',
      ran: ['a:x', 'a:x', 'a:x'],
    });
  });

  it('drops the retry of a state that was replaced', () => {
    check({
      gateways: 'a-----b',
      routes: 'x',
      passes: [{ marble: '(p|)', listener: FAILED }, ...quick],
      expected: '--o-----o',
      ran: ['a:x', 'b:x'],
    });
  });

  it('leaves nothing running after it was unsubscribed', () => {
    check({
      gateways: 'a-----b',
      routes: 'x',
      passes: [{ marble: '(p|)', listener: FAILED }],
      expected: '--o',
      ran: ['a:x'],
      unsubscribe: '---!',
    });
  });
});
