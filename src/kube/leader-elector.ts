import { BehaviorSubject, type Observable } from 'rxjs';

import type { Logger } from '../telemetry/logger.js';
import type { Clock } from '../util/clock.js';
import { messageOf } from '../util/errors.js';
import { isStatus } from './kube-api-error.js';
import type { KubeClient } from './kube-client.js';
import { NOT_LEADING, type LeaderElection, type Leadership, type LeadershipTerm } from './leadership.js';
import { leaseBody, microTime, parseLease, type Lease } from './lease.js';
import { collectionPath, objectPath } from './resource-path.js';

export interface LeaderElectorOptions {
  readonly client: Pick<KubeClient, 'get' | 'create' | 'replace'>;
  readonly namespace: string;
  readonly name: string;
  /** Of this process, and of no other, not even its predecessor in the same pod. */
  readonly identity: string;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly random?: () => number;
  readonly times?: LeaseTimes;
}

export interface LeaseTimes {
  /** After this long without a renewal others may take over. Whole seconds. */
  readonly leaseDurationMs: number;
  /** After this long without a renewal the leader stops. Less than the duration. */
  readonly renewDeadlineMs: number;
  /** Between attempts, up to 20 % more. */
  readonly retryPeriodMs: number;
}

const DEFAULT_TIMES: LeaseTimes = { leaseDurationMs: 15_000, renewDeadlineMs: 10_000, retryPeriodMs: 2_000 };
const LEASES = { group: 'coordination.k8s.io', version: 'v1', plural: 'leases', namespaced: true };

interface Reign {
  readonly abort: AbortController;
  readonly term: LeadershipTerm;
  renewedAt: number;
}

/**
 * Leader election over a Lease, as client-go does it. Expiry is measured on the own clock from when a change of the
 * Lease was seen, so clocks of machines need not agree. The term ends exactly at the renew deadline, even while a
 * request hangs, and thereby before anybody else can begin one.
 */
export class LeaderElector implements LeaderElection {
  readonly leadership$: Observable<Leadership>;
  readonly #options: LeaderElectorOptions;
  readonly #times: LeaseTimes;
  readonly #random: () => number;
  readonly #leadership$ = new BehaviorSubject<Leadership>(NOT_LEADING);
  readonly #stop = new AbortController();
  #lease: Lease | undefined;
  #leaseSeenAt = 0;
  #reign: Reign | undefined;
  #running: Promise<void> | undefined;

  constructor(options: LeaderElectorOptions) {
    this.#options = options;
    this.#times = options.times ?? DEFAULT_TIMES;
    this.#random = options.random ?? Math.random;
    this.leadership$ = this.#leadership$.asObservable();
  }

  start(): void {
    this.#running ??= this.#run();
  }

  async stop(): Promise<void> {
    const reigned = this.#reign !== undefined;
    this.#end('stopped');
    this.#stop.abort();
    await this.#running;
    if (reigned) await this.#release();
  }

  async #run(): Promise<void> {
    const { clock } = this.#options;
    while (!this.#stop.signal.aborted) {
      await this.#attempt();
      const pause = this.#times.retryPeriodMs * (1 + this.#random() / 5);
      await clock.sleep(pause, this.#stop.signal);
    }
  }

  /** One try to get or keep the Lease; given up after the renew deadline, so that a hanging request blocks nothing. */
  async #attempt(): Promise<void> {
    const { clock, logger } = this.#options;
    const abort = new AbortController();
    const finished = new AbortController();
    const begun = clock.now();
    const reign = this.#reign;
    void clock
      .sleep(this.#times.renewDeadlineMs, AbortSignal.any([finished.signal, this.#stop.signal]))
      .then(() => {
        abort.abort();
      });
    try {
      if (await this.#claim(abort.signal)) this.#claimed(begun, reign);
      else this.#end('another holds the Lease');
    } catch (error) {
      if (!this.#stop.signal.aborted) logger.warn({ problem: messageOf(error) }, 'lease attempt failed');
    } finally {
      finished.abort();
    }
  }

  /** Whether the Lease is ours afterwards. */
  async #claim(signal: AbortSignal): Promise<boolean> {
    const { client, namespace, name, identity } = this.#options;
    const path = objectPath(LEASES, { namespace, name });
    const lease = await this.#read(path, signal);
    if (lease === undefined) {
      const body = leaseBody({ namespace, name }, this.#claimOf(undefined));
      this.#see(await client.create(collectionPath(LEASES, namespace), body, signal));
      return true;
    }
    const free = lease.holder === '' || lease.holder === identity || this.#expired(lease);
    if (!free) return false;
    this.#see(await client.replace(path, leaseBody(lease.metadata, this.#claimOf(lease)), signal));
    return true;
  }

  async #read(path: string, signal: AbortSignal): Promise<Lease | undefined> {
    try {
      return this.#see(await this.#options.client.get(path, signal));
    } catch (error) {
      if (isStatus(error, 404)) return undefined;
      throw error;
    }
  }

  #see(raw: unknown): Lease {
    const lease = parseLease(raw);
    const before = this.#lease;
    if (before?.holder !== lease.holder || before.renewTime !== lease.renewTime) {
      this.#leaseSeenAt = this.#options.clock.now();
    }
    this.#lease = lease;
    return lease;
  }

  #expired(lease: Lease): boolean {
    return this.#options.clock.now() >= this.#leaseSeenAt + lease.durationMs;
  }

  #claimOf(lease: Lease | undefined) {
    const now = microTime(this.#options.clock.now());
    // A renewal keeps the number of the term, everything else begins a new one, also after ourselves.
    const renewal = this.#reign !== undefined && lease?.holder === this.#options.identity;
    return {
      holder: this.#options.identity,
      durationMs: this.#times.leaseDurationMs,
      acquireTime: renewal ? (lease.acquireTime ?? now) : now,
      renewTime: now,
      transitions: renewal ? lease.transitions : (lease?.transitions ?? 0) + 1,
    };
  }

  /** Counts from before the request: nobody else can have seen an earlier time. */
  #claimed(at: number, renewed: Reign | undefined): void {
    if (this.#stop.signal.aborted) return;
    if (renewed === undefined) this.#begin(at);
    // Else the deadline ended the term while the answer was on its way: the next attempt begins another.
    else if (this.#reign === renewed) renewed.renewedAt = at;
  }

  #begin(at: number): void {
    const abort = new AbortController();
    const number = this.#lease?.transitions ?? 0;
    const reign: Reign = {
      abort,
      renewedAt: at,
      term: { number, signal: abort.signal, isCurrent: () => this.#holds(reign) },
    };
    if (!this.#holds(reign)) return;
    this.#reign = reign;
    this.#options.logger.info({ term: number }, 'leading');
    this.#leadership$.next({ leading: true, term: reign.term });
    void this.#guard(reign);
  }

  #holds(reign: Reign): boolean {
    return !reign.abort.signal.aborted && this.#options.clock.now() < this.#deadline(reign);
  }

  #deadline({ renewedAt }: Reign): number {
    return renewedAt + this.#times.renewDeadlineMs;
  }

  async #guard(reign: Reign): Promise<void> {
    const { clock } = this.#options;
    while (this.#holds(reign)) await clock.sleep(this.#deadline(reign) - clock.now(), reign.abort.signal);
    if (this.#reign === reign) this.#end('the Lease could not be renewed in time');
  }

  #end(reason: string): void {
    const reign = this.#reign;
    if (reign === undefined) return;
    this.#reign = undefined;
    reign.abort.abort();
    this.#options.logger.info({ term: reign.term.number, reason }, 'not leading any more');
    this.#leadership$.next(NOT_LEADING);
  }

  async #release(): Promise<void> {
    const { client, clock, namespace, name, identity, logger } = this.#options;
    const lease = this.#lease;
    if (lease?.holder !== identity) return;
    const now = microTime(clock.now());
    const { metadata, transitions } = lease;
    const body = leaseBody(metadata, {
      holder: undefined,
      durationMs: 1000,
      acquireTime: now,
      renewTime: now,
      transitions,
    });
    const giveUp = new AbortController();
    const finished = new AbortController();
    void clock.sleep(this.#times.retryPeriodMs, finished.signal).then(() => {
      giveUp.abort();
    });
    try {
      await client.replace(objectPath(LEASES, { namespace, name }), body, giveUp.signal);
    } catch (error) {
      logger.warn({ problem: messageOf(error) }, 'the Lease could not be released');
    } finally {
      finished.abort();
    }
  }
}
