import type { ClusterSnapshot } from '../apis/cluster-snapshot.js';
import { EMPTY_CONFIGURATION, type ProxyConfiguration } from '../ir/proxy-configuration.js';
import type { ApplyResult, ProxyEngine } from '../ir/proxy-engine.js';
import { overlayApplyResult, overlayRejection } from '../status/overlay-apply-result.js';
import type { Logger } from '../telemetry/logger.js';
import type { Metrics } from '../telemetry/metrics.js';
import type { Translation } from '../translation/translation.js';
import type { StatusPlan, PlannedEvent, PlannedInfrastructure } from '../graph/status-plan.js';
import { messageOf } from '../util/errors.js';
import type { Clock } from '../util/clock.js';

/** Snapshot in, what to serve and to say out; pure but for its memory of unchanged parts. */
export type Translate = (cluster: ClusterSnapshot) => Translation;

/** What a pass came to. `statuses` say what is served, not what was asked for. */
export interface PassOutcome {
  readonly configuration: ProxyConfiguration;
  readonly statuses: StatusPlan;
  readonly events: readonly PlannedEvent[];
  readonly infrastructure: readonly PlannedInfrastructure[];
  /** Undefined when the engine refused the configuration: the last good one serves on. */
  readonly result: ApplyResult | undefined;
}

export interface ControlPassDependencies {
  readonly translate: Translate;
  readonly engine: ProxyEngine;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly clock: Clock;
}

/** One run of the pipeline: translate, apply, and lay what the engine says over the planned status. */
export class ControlPass {
  readonly #dependencies: ControlPassDependencies;
  #served = EMPTY_CONFIGURATION;
  #revision = 0;

  constructor(dependencies: ControlPassDependencies) {
    this.#dependencies = dependencies;
  }

  /** Never rejects. Undefined when translation itself failed, which is a bug: what was served serves on. */
  async run(cluster: ClusterSnapshot): Promise<PassOutcome | undefined> {
    const { metrics, logger, clock } = this.#dependencies;
    const started = clock.now();
    const translation = this.#translate(cluster);
    if (!translation) return undefined;
    const { configuration, statuses, events, infrastructure } = translation;
    try {
      const result = await this.#apply(configuration);
      const seconds = (clock.now() - started) / 1000;
      const changed = result.revision !== this.#revision;
      this.#revision = result.revision;
      this.#served = configuration;
      metrics.increment('reconciles', { result: changed ? 'applied' : 'unchanged' });
      metrics.observe('reconcileDuration', seconds);
      metrics.set('lastSync', Math.floor(clock.now() / 1000));
      if (changed) {
        this.#countObjects(configuration);
        logger.info({ revision: result.revision, seconds }, 'configuration applied');
      }
      return {
        configuration,
        statuses: overlayApplyResult(statuses, result),
        events,
        infrastructure,
        result,
      };
    } catch (error) {
      metrics.increment('reconciles', { result: 'error' });
      metrics.increment('reconcileErrors', { stage: 'apply' });
      logger.error({ err: error }, 'configuration refused, the last good one serves on');
      const problem = messageOf(error);
      return {
        configuration: this.#served,
        statuses: overlayRejection(statuses, problem),
        events: [...events, ...rejections(statuses, problem)],
        infrastructure,
        result: undefined,
      };
    }
  }

  #translate(cluster: ClusterSnapshot): Translation | undefined {
    const { translate, metrics, logger, clock } = this.#dependencies;
    const started = clock.now();
    try {
      return translate(cluster);
    } catch (error) {
      metrics.increment('reconciles', { result: 'error' });
      metrics.increment('reconcileErrors', { stage: 'compile' });
      logger.error({ err: error }, 'translation failed, the last good configuration serves on');
      return undefined;
    } finally {
      metrics.observe('translateDuration', (clock.now() - started) / 1000);
    }
  }

  async #apply(configuration: ProxyConfiguration): Promise<ApplyResult> {
    const { engine, metrics, clock } = this.#dependencies;
    const started = clock.now();
    const result = await engine.apply(configuration);
    metrics.observe('applyDuration', (clock.now() - started) / 1000);
    return result;
  }

  #countObjects({ listeners, routes, upstreams, certificates, policies }: ProxyConfiguration): void {
    const { metrics } = this.#dependencies;
    metrics.set('generatedObjects', listeners.length, { kind: 'listeners' });
    metrics.set('generatedObjects', routes.length, { kind: 'routes' });
    metrics.set('generatedObjects', upstreams.length, { kind: 'backends' });
    metrics.set('generatedObjects', certificates.length, { kind: 'certificates' });
    metrics.set('generatedObjects', policies.length, { kind: 'policies' });
  }
}

/** Invariant 3: a failed apply says so on every Gateway. */
function rejections(statuses: StatusPlan, problem: string): PlannedEvent[] {
  return statuses.flatMap(({ object }) =>
    object.kind === 'Gateway'
      ? [
          {
            object,
            type: 'Warning' as const,
            reason: 'Rejected',
            message: `The configuration was refused, the last good one serves on: ${problem}`,
          },
        ]
      : [],
  );
}
