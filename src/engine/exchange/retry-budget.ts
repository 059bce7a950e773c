import type { RetryPolicy } from '../../ir/http.js';

type BudgetPolicy = NonNullable<RetryPolicy['budget']>;

/**
 * Bounds the retries of a rule to a share of its requests, so that a failing backend is not asked even more. Counts are
 * those of the current interval and the one before, weighted by how much of it still counts.
 */
export class RetryBudget {
  readonly #policy: BudgetPolicy;
  readonly #now: () => number;
  #start: number;
  #requests = 0;
  #retries = 0;
  #earlierRequests = 0;
  #earlierRetries = 0;

  constructor(policy: BudgetPolicy, now: () => number = () => performance.now()) {
    this.#policy = policy;
    this.#now = now;
    this.#start = now();
  }

  noteRequest(): void {
    this.#turn();
    this.#requests++;
  }

  /** Whether one more retry is within the budget; it is counted then. */
  take(): boolean {
    const rest = 1 - this.#turn();
    const { percent, intervalMs, minRetriesPerSecond } = this.#policy;
    const requests = this.#requests + this.#earlierRequests * rest;
    const retries = this.#retries + this.#earlierRetries * rest;
    const allowed = Math.max((minRetriesPerSecond * intervalMs) / 1000, (percent / 100) * requests);
    if (retries + 1 > allowed) return false;
    this.#retries++;
    return true;
  }

  /** Begins the next interval when it is time; answers how much of the current one has passed, from 0 to 1. */
  #turn(): number {
    const { intervalMs } = this.#policy;
    const passed = (this.#now() - this.#start) / intervalMs;
    if (passed < 1) return passed;
    const isNext = passed < 2;
    this.#earlierRequests = isNext ? this.#requests : 0;
    this.#earlierRetries = isNext ? this.#retries : 0;
    this.#requests = 0;
    this.#retries = 0;
    this.#start += Math.floor(passed) * intervalMs;
    return passed % 1;
  }
}

const budgets = new WeakMap<RetryPolicy, RetryBudget>();

/** The budget of a rule's policy in this thread, or undefined when it has none. */
export function budgetOf(policy: RetryPolicy | undefined): RetryBudget | undefined {
  if (!policy?.budget) return undefined;
  let budget = budgets.get(policy);
  if (!budget) {
    budget = new RetryBudget(policy.budget);
    budgets.set(policy, budget);
  }
  return budget;
}
