import { EMPTY_CONFIGURATION, type ProxyConfiguration } from '../../ir/proxy-configuration.js';
import type { ApplyResult, ListenerOutcome, ProxyEngine } from '../../ir/proxy-engine.js';
import type { Logger } from '../../telemetry/logger.js';
import type { Metrics } from '../../telemetry/metrics.js';
import { MAX_LISTENERS, TrafficCounters } from '../../telemetry/traffic-counters.js';
import type { TrafficSource } from '../../telemetry/traffic-metrics.js';
import { messageOf, OperatorError } from '../../util/errors.js';
import { configurationDelta, isEmptyDelta } from './configuration-delta.js';
import type { DataPlaneOptions, WorkerStart } from './protocol.js';
import { WorkerHandle } from './worker-handle.js';

/** A worker that dies within this time of its start is started again later and later, at most after the other. */
const SHORT_LIFE_MS = 5_000;
const RESTART_PAUSE = { initialMs: 50, maxMs: 5_000 };

export interface WorkerPoolOptions {
  readonly workers: number;
  readonly dataPlane: DataPlaneOptions;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** Starts a worker thread; given by tests that end one. */
  readonly spawn?: StartWorker;
}

/**
 * The engine on worker threads. All of them serve the same revision; one that dies is replaced, and the
 * replacement has the configuration before it opens a socket.
 */
export class WorkerPool implements ProxyEngine, TrafficSource {
  readonly #options: WorkerPoolOptions;
  readonly #slots: Slot[];
  readonly #rows = new Map<string, number>();
  #serving = EMPTY_CONFIGURATION;
  #result: ApplyResult = { revision: 0, listeners: new Map() };
  #revision = 0;
  #pass: Promise<unknown> = Promise.resolve();
  #closing = false;

  constructor(options: WorkerPoolOptions) {
    this.#options = options;
    this.#slots = Array.from({ length: options.workers }, () => ({
      counters: new TrafficCounters(),
      startedAt: 0,
      shortLives: 0,
    }));
    for (const slot of this.#slots) this.#start(slot);
  }

  apply(configuration: ProxyConfiguration): Promise<ApplyResult> {
    return this.#exclusive(() => this.#apply(configuration));
  }

  async drain(timeoutMs: number): Promise<void> {
    this.#closing = true;
    await Promise.allSettled(this.#liveWorkers().map((worker) => worker.drain(timeoutMs)));
    await this.close();
  }

  async close(): Promise<void> {
    this.#closing = true;
    for (const slot of this.#slots) clearTimeout(slot.restart);
    await Promise.all(this.#liveWorkers().map((worker) => worker.terminate()));
  }

  blocks(): readonly TrafficCounters[] {
    return this.#slots.map(({ counters }) => counters);
  }

  rows(): ReadonlyMap<string, number> {
    return this.#rows;
  }

  async #apply(configuration: ProxyConfiguration): Promise<ApplyResult> {
    const delta = configurationDelta(this.#serving, configuration);
    if (isEmptyDelta(delta) && this.#isServed()) return this.#result;
    const revision = this.#revision + 1;
    const rows = this.#assignRows(configuration);
    const workers = this.#liveWorkers();
    const prepared = await Promise.allSettled(workers.map((worker) => worker.prepare(revision, delta, rows)));
    const refusal = prepared.find(isRefusal);
    if (refusal) {
      for (const worker of workers) worker.discard(revision);
      throw refusal.reason;
    }
    // From here on a replacement starts with the new configuration.
    this.#serving = configuration;
    this.#revision = revision;
    const outcomes = await Promise.allSettled(workers.map((worker) => worker.commit(revision)));
    if (!outcomes.some(({ status }) => status === 'fulfilled')) {
      throw new OperatorError('ERR_WORKER_LOST', 'no worker thread is alive to serve the configuration');
    }
    this.#result = { revision, listeners: combine(outcomes.flatMap(fulfilled)) };
    return this.#result;
  }

  /** Otherwise the same configuration is worth another try: a port that was taken may be free now. */
  #isServed(): boolean {
    const { revision, listeners } = this.#result;
    return (
      revision > 0 &&
      revision === this.#revision &&
      [...listeners.values()].every(({ state }) => state === 'serving')
    );
  }

  #liveWorkers(): WorkerHandle[] {
    return this.#slots.flatMap(({ worker }) => (worker ? [worker] : []));
  }

  #assignRows({ listeners }: ProxyConfiguration): (readonly [string, number])[] {
    const added: [string, number][] = [];
    for (const { key } of listeners) {
      if (this.#rows.has(key)) continue;
      const row = Math.min(this.#rows.size, MAX_LISTENERS - 1);
      this.#rows.set(key, row);
      added.push([key, row]);
    }
    return added;
  }

  #start(slot: Slot): void {
    const { dataPlane, logger, metrics, spawn = startWorker } = this.#options;
    slot.counters.resetLevels();
    const worker: WorkerHandle = spawn({ counters: slot.counters.memory, options: dataPlane }, (lost) => {
      slot.worker = undefined;
      if (this.#closing) return;
      metrics.increment('workerRestarts');
      logger.error({ err: lost, cause: messageOf(lost.cause) }, 'worker thread lost, starting another');
      this.#startLater(slot);
    });
    slot.startedAt = Date.now();
    slot.worker = worker;
    void this.#exclusive(() => this.#catchUp(worker));
  }

  /** At once after a long life; a worker that cannot live must not keep the process busy. */
  #startLater(slot: Slot): void {
    const isShortLived = Date.now() - slot.startedAt < SHORT_LIFE_MS;
    slot.shortLives = isShortLived ? slot.shortLives + 1 : 0;
    const { initialMs, maxMs } = RESTART_PAUSE;
    const pause = slot.shortLives === 0 ? 0 : Math.min(maxMs, initialMs * 2 ** (slot.shortLives - 1));
    slot.restart = setTimeout(() => {
      this.#start(slot);
    }, pause);
  }

  /** Brings a worker that has just started to the revision that is served. */
  async #catchUp(worker: WorkerHandle): Promise<void> {
    try {
      await worker.started;
      if (this.#revision === 0) return;
      await worker.prepare(this.#revision, configurationDelta(EMPTY_CONFIGURATION, this.#serving), [
        ...this.#rows,
      ]);
      await worker.commit(this.#revision);
    } catch (error) {
      if (!(error instanceof OperatorError && error.code === 'ERR_WORKER_LOST')) {
        this.#options.logger.error({ err: error }, 'worker thread could not be configured');
        await worker.terminate();
      }
    }
  }

  /** One pass at a time: a revision is prepared and committed without another in between. */
  #exclusive<T>(pass: () => Promise<T>): Promise<T> {
    const run = this.#pass.then(pass, pass);
    this.#pass = run.catch(() => undefined);
    return run;
  }
}

type StartWorker = (start: WorkerStart, onLost: (error: OperatorError) => void) => WorkerHandle;

function startWorker(start: WorkerStart, onLost: (error: OperatorError) => void): WorkerHandle {
  return new WorkerHandle(start, onLost);
}

interface Slot {
  readonly counters: TrafficCounters;
  worker?: WorkerHandle | undefined;
  startedAt: number;
  /** Deaths in a row that came soon after a start. */
  shortLives: number;
  restart?: NodeJS.Timeout;
}

/** A worker that was lost does not count: its replacement starts with what is served by then. */
function isRefusal(result: PromiseSettledResult<unknown>): result is PromiseRejectedResult {
  return (
    result.status === 'rejected' &&
    !(result.reason instanceof OperatorError && result.reason.code === 'ERR_WORKER_LOST')
  );
}

function fulfilled<T>(result: PromiseSettledResult<T>): T[] {
  return result.status === 'fulfilled' ? [result.value] : [];
}

/** A listener serves when every worker serves it. */
function combine(
  outcomes: readonly (readonly (readonly [string, ListenerOutcome])[])[],
): ReadonlyMap<string, ListenerOutcome> {
  const combined = new Map<string, ListenerOutcome>();
  for (const [listener, outcome] of outcomes.flat()) {
    if (combined.get(listener)?.state !== 'failed') combined.set(listener, outcome);
  }
  return combined;
}
