import { availableParallelism } from 'node:os';
import { randomBytes } from 'node:crypto';

import type { DataPlaneOptions } from '../engine/workers/protocol.js';
import { parseDuration } from '../util/duration.js';
import type { RawOptions } from './options/schema.js';

/** Where objects come from. */
export type Input =
  | { readonly type: 'files'; readonly directory: string }
  | { readonly type: 'cluster'; readonly kubeconfig?: string; readonly inCluster?: boolean };

/** Everything a process is started with. */
export interface RunOptions {
  readonly input: Input;
  readonly raw: RawOptions;
  readonly version: string;
}

/** Milliseconds of a duration that the schema has checked. */
export function durationOf(text: string): number {
  return parseDuration(text) ?? 0;
}

export function workersOf({ engine }: RawOptions): number {
  return engine.workers === 0 ? availableParallelism() : engine.workers;
}

/** Settings of the data plane. Budgets of caches are those of one worker: together they are what was asked for. */
export function dataPlaneOptions(raw: RawOptions): DataPlaneOptions {
  const workers = workersOf(raw);
  return {
    wire: raw.engine.wire,
    logLevel: raw.logging.log_level,
    reusePort: workers > 1,
    caches: mapValues(raw.caches, (cache) => ({
      maxSizeBytes: Math.floor(cache.memory.max_size_bytes / workers),
      maxObjectSizeBytes: cache.max_object_size_bytes,
    })),
    negativeCaches: mapValues(raw.negative_caches, (statuses) => mapValues(statuses, durationOf)),
    accessLog: {
      enabled: raw.access_log.enabled,
      format: raw.access_log.format,
      sampleRate: raw.access_log.sample_rate,
    },
    ticketKeys: randomBytes(48).toString('hex'),
    sessionKey: randomBytes(32).toString('hex'),
  };
}

function mapValues<V, W>(record: Readonly<Record<string, V>>, change: (value: V) => W): Record<string, W> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value)]));
}
