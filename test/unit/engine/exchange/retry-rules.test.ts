import { expect } from 'chai';
import { RetryBudget } from '../../../../src/engine/exchange/retry-budget.js';
import {
  decideRetry,
  isRetriedStatus,
  statusOf,
  type AttemptOutcome,
} from '../../../../src/engine/exchange/retry-rules.js';
import type { UpstreamFailure } from '../../../../src/engine/exchange/upstream.js';

const outcome = (kind: UpstreamFailure['kind'], extra: Partial<AttemptOutcome> = {}): AttemptOutcome => ({
  failure: { kind, detail: '' },
  method: 'GET',
  reused: false,
  attempts: 1,
  replaced: false,
  ...extra,
});
const policy = { attempts: 1, codes: [500] };

describe('retry rules', () => {
  const cases: readonly (readonly [string, typeof policy | undefined, AttemptOutcome, string])[] = [
    ['B-11 a dead kept connection, idempotent', undefined, outcome('early', { reused: true }), 'replace'],
    ['B-11 the same for POST', undefined, outcome('early', { reused: true, method: 'POST' }), 'give-up'],
    ['B-11 only once', undefined, outcome('early', { reused: true, replaced: true }), 'give-up'],
    ['a fresh connection that dies', undefined, outcome('early'), 'give-up'],
    ['the same with a policy', policy, outcome('early', { method: 'POST' }), 'retry'],
    ['connect without a policy', undefined, outcome('connect', { method: 'POST' }), 'failover'],
    ['connect without a policy, too often', undefined, outcome('connect', { attempts: 3 }), 'give-up'],
    ['connect with a policy', policy, outcome('connect'), 'retry'],
    ['connect with a policy that is used up', policy, outcome('connect', { attempts: 2 }), 'give-up'],
    ['B-10 attempts 0', { ...policy, attempts: 0 }, outcome('connect'), 'give-up'],
    ['timeout with a policy', policy, outcome('timeout'), 'retry'],
    ['timeout without', undefined, outcome('timeout'), 'give-up'],
    ['bad framing is not retried', policy, outcome('protocol'), 'give-up'],
    ['a bad certificate is not retried', policy, outcome('tls'), 'give-up'],
  ];
  for (const [name, given, what, want] of cases) {
    it(`${name} → ${want}`, () => {
      expect(decideRetry(given, what)).to.equal(want);
    });
  }

  it('retries the codes of the policy only, and as often as it says', () => {
    expect(isRetriedStatus(undefined, 500, 1)).to.equal(false);
    expect(isRetriedStatus(policy, 500, 1)).to.equal(true);
    expect(isRetriedStatus(policy, 500, 2)).to.equal(false);
    expect(isRetriedStatus(policy, 503, 1)).to.equal(false);
  });

  it('says 503, 504 or 502', () => {
    const kinds = ['connect', 'tls', 'early', 'timeout', 'protocol', 'truncated'] as const;
    const statuses = kinds.map((kind) => statusOf({ kind, detail: '' }));
    expect(statuses).to.deep.equal([503, 503, 503, 504, 502, 502]);
  });
});

describe('RetryBudget', () => {
  it('bounds retries to a share of the requests, with a minimum', () => {
    let now = 0;
    const budget = new RetryBudget({ percent: 20, intervalMs: 1000, minRetriesPerSecond: 1 }, () => now);
    const take = (times: number): number =>
      Array.from({ length: times }, () => budget.take()).filter(Boolean).length;
    expect(take(5)).to.equal(1);
    for (let i = 0; i < 100; i++) budget.noteRequest();
    expect(take(50)).to.equal(19);
    now = 1500;
    // Half of the interval before still counts: 50 requests and 10 retries.
    expect(take(50)).to.equal(0);
    now = 5000;
    expect(take(50)).to.equal(1);
  });
});
