import { ContainerModule } from 'inversify';

import { RECONCILERS } from '../../controllers/reconcilers.js';
import { Aggregator } from '../aggregation/aggregator.js';
import { ControlPass, type Translate } from '../aggregation/control-pass.js';
import type { ProxyEngine } from '../ir/proxy-engine.js';
import type { ResourceSource } from '../kube/resource-source.js';
import { StatusStore } from '../status/status-store.js';
import type { Logger } from '../telemetry/logger.js';
import type { Metrics } from '../telemetry/metrics.js';
import { TOKENS } from '../tokens.js';
import type { Clock } from '../util/clock.js';
import { type RunOptions } from './run-options.js';

interface PipelineParts {
  readonly translate: Translate;
  readonly settleMs: number;
}

/** Reconcilers, and what folds their snapshots into what is served. */
export function pipelineModule({ raw }: RunOptions, { translate, settleMs }: PipelineParts): ContainerModule {
  const controllerName = raw.kubernetes.gateway_class_controller_name;
  return new ContainerModule(({ bind }) => {
    bind(TOKENS.ControllerName).toConstantValue(controllerName);
    for (const reconciler of Object.values(RECONCILERS)) {
      bind<ResourceSource>(TOKENS.Reconciler).to(reconciler).inSingletonScope();
    }
    bind(TOKENS.StatusStore)
      .toResolvedValue((clock: Clock) => new StatusStore(controllerName, clock), [TOKENS.Clock])
      .inSingletonScope();
    bind(TOKENS.Aggregator)
      .toResolvedValue(
        (sources: ResourceSource[], engine: ProxyEngine, { logger, metrics, clock }: Tools) =>
          new Aggregator(sources, new ControlPass({ translate, engine, logger, metrics, clock }), {
            settleMs,
          }),
        [{ serviceIdentifier: TOKENS.Reconciler, isMultiple: true }, TOKENS.Engine, TOOLS],
      )
      .inSingletonScope();
    bind(TOOLS)
      .toResolvedValue(
        (logger: Logger, metrics: Metrics, clock: Clock): Tools => ({
          logger: logger.child({ component: 'control-pass' }),
          metrics,
          clock,
        }),
        [TOKENS.Logger, TOKENS.Metrics, TOKENS.Clock],
      )
      .inSingletonScope();
  });
}

interface Tools {
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly clock: Clock;
}

const TOOLS = Symbol('PipelineTools');
