import type { Observable, Subscription } from 'rxjs';

import type { PlannedInfrastructure } from '../graph/status-plan.js';
import { backoffMs } from '../kube/backoff.js';
import type { KubeClient } from '../kube/kube-client.js';
import type { Leadership, LeadershipTerm } from '../kube/leadership.js';
import { objectPath } from '../kube/resource-path.js';
import { WorkQueue } from '../kube/work-queue.js';
import type { Logger } from '../telemetry/logger.js';
import type { Clock } from '../util/clock.js';
import { messageOf } from '../util/errors.js';
import { infrastructureService, serviceName } from './infrastructure-service.js';

export interface InfrastructureWriterOptions {
  readonly client: Pick<KubeClient, 'patch'>;
  readonly leadership$: Observable<Leadership>;
  /** `group/version` by which Gateways are served. */
  readonly gatewayApiVersion: () => string;
  readonly clock: Clock;
  readonly logger: Logger;
}

interface Work {
  readonly planned: PlannedInfrastructure;
  attempts: number;
}

const FIELD_MANAGER = 'trickster-gateway';
const SERVICES = { group: '', version: 'v1', plural: 'services', namespaced: true };
const RETRY = { initialMs: 500, maxMs: 30_000 };

/**
 * Makes the Services of Gateways with `spec.infrastructure`, while this process leads. In: plans, of which the newest
 * counts; out: one server-side apply for each that changed.
 */
export class InfrastructureWriter {
  readonly #options: InfrastructureWriterOptions;
  readonly #queue: WorkQueue<Work>;
  #applied = new Map<string, PlannedInfrastructure>();
  #plan: readonly PlannedInfrastructure[] = [];
  #term: LeadershipTerm | undefined;
  #subscription: Subscription | undefined;

  constructor(options: InfrastructureWriterOptions) {
    this.#options = options;
    this.#queue = new WorkQueue({
      handle: (key, work) => this.#apply(key, work),
      concurrency: 4,
      clock: options.clock,
    });
  }

  start(): void {
    const { leadership$, logger } = this.#options;
    this.#subscription = leadership$.subscribe({
      next: (leadership) => {
        this.#term = leadership.leading ? leadership.term : undefined;
        this.#applied = new Map();
        this.#queue.clear();
        this.publish(this.#plan);
      },
      error: (problem: unknown) => {
        logger.error({ problem: String(problem) }, 'infrastructure writer lost its input');
      },
    });
  }

  stop(): void {
    this.#subscription?.unsubscribe();
    this.#queue.stop();
  }

  publish(plan: readonly PlannedInfrastructure[]): void {
    this.#plan = plan;
    if (!this.#term) return;
    for (const planned of plan) {
      const key = `${planned.gateway.namespace}/${planned.gateway.name}`;
      if (this.#applied.get(key) !== planned) this.#queue.add(key, { planned, attempts: 0 });
    }
  }

  async #apply(key: string, work: Work): Promise<number | undefined> {
    const { client, gatewayApiVersion, logger } = this.#options;
    const term = this.#term;
    if (!term?.isCurrent()) return undefined;
    const { planned } = work;
    const { namespace } = planned.gateway;
    try {
      await client.patch(
        objectPath(SERVICES, { namespace, name: serviceName(planned.gateway) }),
        {
          type: 'apply',
          body: infrastructureService(planned, gatewayApiVersion()),
          fieldManager: FIELD_MANAGER,
          force: true,
        },
        term.signal,
      );
      this.#applied.set(key, planned);
      return undefined;
    } catch (error) {
      if (!term.isCurrent()) return undefined;
      logger.warn(
        { gateway: key, problem: messageOf(error) },
        'infrastructure of a Gateway could not be written',
      );
      work.attempts += 1;
      return backoffMs(work.attempts, RETRY, Math.random);
    }
  }
}
