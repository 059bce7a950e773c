import { ContainerModule } from 'inversify';

import { WorkerPool } from '../engine/workers/worker-pool.js';
import type { Logger } from '../telemetry/logger.js';
import type { PrometheusMetrics } from '../telemetry/metrics.js';
import { registerTraffic } from '../telemetry/traffic-metrics.js';
import { TOKENS } from '../tokens.js';
import { dataPlaneOptions, type RunOptions, workersOf } from './run-options.js';

/** The data plane on its worker threads, with its counters among the metrics. */
export function engineModule({ raw }: RunOptions): ContainerModule {
  return new ContainerModule(({ bind }) => {
    bind(TOKENS.Engine)
      .toResolvedValue(
        (logger: Logger, metrics: PrometheusMetrics) => {
          const pool = new WorkerPool({
            workers: workersOf(raw),
            dataPlane: dataPlaneOptions(raw),
            logger: logger.child({ component: 'engine' }),
            metrics,
          });
          registerTraffic(metrics.registry, pool);
          return pool;
        },
        [TOKENS.Logger, TOKENS.Metrics],
      )
      .inSingletonScope();
  });
}
