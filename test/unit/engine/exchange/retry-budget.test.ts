import { expect } from 'chai';
import { budgetOf, RetryBudget } from '../../../../src/engine/exchange/retry-budget.js';

const policy = { percent: 50, intervalMs: 1000, minRetriesPerSecond: 0 };

describe('RetryBudget', () => {
  it('allows a share of the requests', () => {
    const budget = new RetryBudget(policy, () => 0);
    expect(budget.take(), 'without a request').to.equal(false);
    for (let i = 0; i < 4; i++) budget.noteRequest();
    expect([budget.take(), budget.take(), budget.take()]).to.deep.equal([true, true, false]);
  });

  it('weighs the interval before, and forgets older ones', () => {
    let now = 0;
    const budget = new RetryBudget(policy, () => now);
    for (let i = 0; i < 8; i++) budget.noteRequest();
    now = 1500;
    expect([budget.take(), budget.take(), budget.take()]).to.deep.equal([true, true, false]);
    now = 5000;
    expect(budget.take()).to.equal(false);
  });

  it('is one for each policy, where the policy has one', () => {
    const retry = { attempts: 1, codes: [], budget: policy };
    expect(budgetOf(undefined)).to.equal(undefined);
    expect(budgetOf({ attempts: 1, codes: [] })).to.equal(undefined);
    expect(budgetOf(retry)).to.be.instanceOf(RetryBudget).and.equal(budgetOf(retry));
    expect(budgetOf({ ...retry })).not.to.equal(budgetOf(retry));
  });
});
