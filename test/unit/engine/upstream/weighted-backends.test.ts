import { expect } from 'chai';
import fc from 'fast-check';
import type { BackendEntry } from '../../../../src/engine/exchange/route-entry.js';
import { WeightedBackends } from '../../../../src/engine/upstream/weighted-backends.js';

const entry = (weight: number): BackendEntry => ({
  weight,
  upstream: undefined,
  refusal: { status: 500, reason: 'r' },
  requestSteps: [],
  responseSteps: [],
  policy: undefined,
});

describe('WeightedBackends', () => {
  it('gives each its exact share over every run of the sum of the weights', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(9), { maxLength: 6 }), fc.nat(20), (weights, skipped) => {
        const backends = new WeightedBackends(weights.map(entry));
        const total = weights.reduce((sum, weight) => sum + weight, 0);
        if (total === 0) return backends.next() === undefined;
        const counts = new Map<BackendEntry, number>();
        // A run may begin at a multiple of the sum only: smooth round robin is periodic.
        for (let i = 0; i < total * (skipped % 3); i++) backends.next();
        for (let i = 0; i < total; i++) {
          const chosen = backends.next()!;
          counts.set(chosen, (counts.get(chosen) ?? 0) + 1);
        }
        return backends.entries.every((each) => (counts.get(each) ?? 0) === each.weight);
      }),
    );
  });

  it('spreads turns: 5, 1, 1 is a a b a c a a', () => {
    const backends = new WeightedBackends([5, 1, 1].map(entry));
    const order = Array.from({ length: 7 }, () => 'abc'[backends.entries.indexOf(backends.next()!)]).join('');
    expect(order).to.equal('aabacaa');
  });
});
