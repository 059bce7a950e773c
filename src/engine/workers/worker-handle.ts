import { Worker } from 'node:worker_threads';

import type { ListenerOutcome } from '../../ir/proxy-engine.js';
import { OperatorError } from '../../util/errors.js';
import type { ConfigurationDelta } from './configuration-delta.js';
import { inlineMore } from './inlining.js';
import type { FromWorker, ToWorker, WorkerStart } from './protocol.js';

type Rows = readonly (readonly [listener: string, row: number])[];
type Outcomes = readonly (readonly [listener: string, outcome: ListenerOutcome])[];

// The entry is TypeScript when the sources run as they are, JavaScript when they were built.
const ENTRY = new URL(import.meta.url.endsWith('.ts') ? './worker.ts' : './worker.js', import.meta.url);

/**
 * Most memory in MB for young objects. What a request leaves behind is dead when it ends, so a larger space is not
 * collected more cheaply; it only drives out of the processor's caches what every request reads.
 */
const YOUNG_GENERATION_MB = 24;

/** One worker thread: a question at a time, each answered or failed with ERR_WORKER_LOST when the thread dies. */
export class WorkerHandle {
  readonly #worker: Worker;
  #waiting: { resolve: (answer: FromWorker) => void; reject: (error: Error) => void } | undefined;
  #lost: OperatorError | undefined;
  readonly started: Promise<FromWorker>;

  constructor(start: WorkerStart, onLost: (error: OperatorError) => void) {
    inlineMore();
    this.#worker = new Worker(ENTRY, {
      workerData: start,
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION_MB },
    });
    this.started = this.#answer();
    this.started.catch(() => undefined); // reported through onLost
    this.#worker.on('message', (message: FromWorker) => {
      const waiting = this.#waiting;
      this.#waiting = undefined;
      waiting?.resolve(message);
    });
    let fault: unknown;
    this.#worker.on('error', (error) => {
      fault = error;
    });
    this.#worker.on('exit', (code) => {
      const lost = new OperatorError('ERR_WORKER_LOST', `worker thread ended with code ${String(code)}`, {
        cause: fault,
      });
      this.#lost = lost;
      this.#waiting?.reject(lost);
      this.#waiting = undefined;
      onLost(lost);
    });
  }

  /** Rejects with ERR_CONFIG_REJECTED when the worker cannot serve it. */
  async prepare(revision: number, delta: ConfigurationDelta, rows: Rows): Promise<void> {
    const answer = await this.#ask({ type: 'prepare', revision, delta, rows });
    if (answer.type === 'refused') throw new OperatorError('ERR_CONFIG_REJECTED', answer.reason);
  }

  async commit(revision: number): Promise<Outcomes> {
    const answer = await this.#ask({ type: 'commit', revision });
    return answer.type === 'committed' ? answer.outcomes : [];
  }

  discard(revision: number): void {
    this.#send({ type: 'discard', revision });
  }

  async drain(timeoutMs: number): Promise<void> {
    await this.#ask({ type: 'drain', timeoutMs });
  }

  async terminate(): Promise<void> {
    await this.#worker.terminate();
  }

  #ask(question: ToWorker): Promise<FromWorker> {
    if (this.#lost) return Promise.reject(this.#lost);
    const answer = this.#answer();
    this.#send(question);
    return answer;
  }

  #answer(): Promise<FromWorker> {
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
    });
  }

  #send(message: ToWorker): void {
    this.#worker.postMessage(message);
  }
}
