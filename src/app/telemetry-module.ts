import { ContainerModule } from 'inversify';

import { createLogger, type LogLevel } from '../telemetry/logger.js';
import { PrometheusMetrics } from '../telemetry/metrics.js';
import { TOKENS } from '../tokens.js';
import { systemClock } from '../util/clock.js';
import type { RunOptions } from './run-options.js';

/** Clock, log and metrics. */
export function telemetryModule({ raw, version }: RunOptions): ContainerModule {
  return new ContainerModule(({ bind }) => {
    bind(TOKENS.Clock).toConstantValue(systemClock);
    // The schema offers exactly these words.
    bind(TOKENS.Logger).toConstantValue(createLogger(raw.logging.log_level as LogLevel));
    bind(TOKENS.Metrics)
      .toDynamicValue(() => {
        const metrics = new PrometheusMetrics();
        metrics.set('buildInfo', 1, { version, nodeversion: process.version });
        return metrics;
      })
      .inSingletonScope();
  });
}
