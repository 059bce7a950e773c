import type { Subscription } from 'rxjs';

import type { PlannedStatus, StatusPlan } from '../graph/status-plan.js';
import type { LeadershipTerm } from '../kube/leadership.js';
import { sameValue } from '../kube/same-value.js';
import { textOf, type StatusKey } from '../kube/status-cache.js';
import { TokenBucket, type RateLimit } from '../kube/token-bucket.js';
import { WorkQueue } from '../kube/work-queue.js';
import { mergeStatus } from './merge-status.js';
import { objectKey, planByObject } from './status-key.js';
import type { StatusSink } from './status-sink.js';
import { StatusWrite } from './status-write.js';
import type { StatusWriterOptions } from './status-writer-options.js';
import { withdrawal } from './withdrawal.js';

/** A status that is as planned. */
interface Settled {
  readonly planned: PlannedStatus;
  /** What the API server made of it: it may have dropped fields that its CRD does not know. */
  readonly stored: unknown;
}

const RATE_LIMIT: RateLimit = { perSecond: 200, burst: 400 };
const CONCURRENCY = 8;
const STOP_MS = 2_000;
/** Of one object: while routes come by the hundred, the count of its Gateway need not be written for each. */
const MIN_INTERVAL_MS = 200;
/** What there are few of, and people wait for, goes first. */
const ROUTE = /^\w+Route /;

/**
 * Writes statuses to the API server. In: plans, of which the newest counts; out: PUTs of `/status`, at most one for an
 * object and plan, and only for what differs. Only the leader writes, each write belongs to its term, and a verdict
 * goes onto no other generation than the one it is about. It decides nothing about what a status says.
 */
export class StatusWriter implements StatusSink {
  readonly #options: StatusWriterOptions;
  readonly #write: StatusWrite;
  readonly #queue: WorkQueue<PlannedStatus>;
  readonly #settled = new Map<string, Settled>();
  /** Milliseconds since 1970, of objects in the plan. */
  readonly #writtenAt = new Map<string, number>();
  #plan: ReadonlyMap<string, PlannedStatus> | undefined;
  readonly #stop = new AbortController();
  #term: LeadershipTerm | undefined;
  #subscription: Subscription | undefined;

  constructor(options: StatusWriterOptions) {
    this.#options = options;
    const { clock, rateLimit = RATE_LIMIT } = options;
    this.#write = new StatusWrite(options, new TokenBucket(rateLimit, clock));
    this.#queue = new WorkQueue({
      handle: (key, planned) => this.#handle(key, planned),
      concurrency: CONCURRENCY,
      isUrgent: (key) => !ROUTE.test(key),
      clock,
    });
  }

  start(): void {
    const { leadership$, statuses, logger } = this.#options;
    const error = (problem: unknown): void => {
      logger.error({ problem: String(problem) }, 'status writer lost its input');
    };
    this.#subscription = leadership$.subscribe({
      next: (leadership) => {
        this.#lead(leadership.leading ? leadership.term : undefined);
      },
      error,
    });
    this.#subscription.add(
      statuses.changes$.subscribe({
        next: (key) => {
          this.#observed(key);
        },
        error,
      }),
    );
  }

  publish(plan: StatusPlan): void {
    this.#plan = planByObject(plan);
    if (this.#term !== undefined) this.#enqueue();
  }

  /** Resolves when everything planned is written, dropped or overtaken. */
  idle(): Promise<void> {
    return this.#queue.idle();
  }

  /** Begins nothing any more and gives writes in flight a moment; an API server that hangs does not hold up the end. */
  async stop(): Promise<void> {
    this.#subscription?.unsubscribe();
    this.#queue.stop();
    const idle = new AbortController();
    const ended = this.#queue.idle().then(() => {
      idle.abort();
    });
    await this.#options.clock.sleep(STOP_MS, idle.signal);
    this.#stop.abort();
    await ended;
  }

  /** A new leader does not trust what its predecessor wrote, or what it wrote itself in another term. */
  #lead(term: LeadershipTerm | undefined): void {
    this.#term = term && untilStopped(term, this.#stop.signal);
    this.#settled.clear();
    this.#queue.clear();
    if (term !== undefined) this.#enqueue();
  }

  #enqueue(): void {
    if (this.#plan === undefined) return;
    for (const [key, planned] of this.#plan) {
      if (this.#settled.get(key)?.planned !== planned) this.#queue.add(key, planned);
    }
    const plan = this.#plan;
    for (const known of [this.#settled, this.#writtenAt]) {
      for (const key of known.keys()) {
        if (!plan.has(key)) known.delete(key);
      }
    }
    this.#queue.retain((key) => plan.has(key));
    this.#withdraw(plan);
  }

  /** Objects that name us no longer: our entries in their status go, or a reader would believe them for ever. */
  #withdraw(plan: ReadonlyMap<string, PlannedStatus>): void {
    for (const [text, key] of this.#options.statuses.claimed()) {
      if (plan.has(text)) continue;
      const observed = this.#options.statuses.get(key);
      if (observed === undefined) continue;
      const planned = withdrawal(key, observed);
      if (planned !== undefined) this.#queue.add(text, planned);
    }
  }

  /** Somebody else changed a status that was as planned: when ours is damaged, it is written again. */
  #observed(key: StatusKey): void {
    const text = textOf(key);
    const settled = this.#settled.get(text);
    const observed = this.#options.statuses.get(key);
    if (settled === undefined || observed === undefined) return;
    if (observed.generation !== settled.planned.generation || observed.uid !== settled.planned.object.uid)
      return;
    if (sameValue(observed.status, settled.stored)) return;
    const { controllerName, clock } = this.#options;
    const merged = mergeStatus(observed.status, settled.planned, { controllerName, now: clock.now() });
    if (merged !== undefined) this.#queue.add(text, settled.planned);
    else this.#settled.set(text, { ...settled, stored: observed.status });
  }

  async #handle(text: string, planned: PlannedStatus): Promise<number | undefined> {
    const term = this.#term;
    if (term?.isCurrent() !== true) return undefined;
    // A retry of what a newer plan has replaced.
    const newest = this.#plan?.get(text) ?? planned;
    const wait = this.#pauseBefore(text);
    if (wait > 0) return wait;

    const key = { kind: newest.object.kind, key: objectKey(newest.object) };
    const outcome = await this.#write.attempt(key, newest, term);
    if (outcome.result === 'retry') return outcome.afterMs;
    // A change of leader meanwhile has forgotten everything, and so has this.
    if (outcome.result === 'settled' && this.#term === term) this.#settle(text, newest, outcome);
    return undefined;
  }

  #pauseBefore(text: string): number {
    const writtenAt = this.#writtenAt.get(text);
    return writtenAt === undefined ? 0 : writtenAt + MIN_INTERVAL_MS - this.#options.clock.now();
  }

  #settle(
    text: string,
    planned: PlannedStatus,
    { stored, wrote }: { readonly stored: unknown; readonly wrote: boolean },
  ): void {
    if (wrote) this.#writtenAt.set(text, this.#options.clock.now());
    if (this.#plan?.get(text) === planned) this.#settled.set(text, { planned, stored });
  }
}

function untilStopped(term: LeadershipTerm, stop: AbortSignal): LeadershipTerm {
  return {
    number: term.number,
    signal: AbortSignal.any([term.signal, stop]),
    isCurrent: () => !stop.aborted && term.isCurrent(),
  };
}
