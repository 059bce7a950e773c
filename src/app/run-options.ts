import { createHmac, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';

import type { DataPlaneOptions } from '../engine/workers/protocol.js';
import { parseDuration } from '../util/duration.js';
import { OperatorError } from '../util/errors.js';
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
    sessionKey: sessionKeyOf(raw),
  };
}

/** The key of `kubernetes.defaults` that names a file. */
export const STICKY_SECRET_FILE = 'sticky_secret_file';
const LEAST_SECRET_BYTES = 32;

/**
 * Signs session tokens. From the file, they survive a restart and are understood by every replica that has the same
 * one; else it is new for each process. Throws ERR_CONFIG_INVALID when the file cannot be used.
 */
function sessionKeyOf({ kubernetes }: RawOptions): string {
  const file = kubernetes.defaults[STICKY_SECRET_FILE];
  if (file === undefined) return randomBytes(32).toString('hex');
  const secret = readSecret(String(file));
  return createHmac('sha256', secret).update('session persistence').digest('hex');
}

function readSecret(file: string): Buffer {
  const place = `kubernetes.defaults.${STICKY_SECRET_FILE}`;
  let secret: Buffer;
  try {
    secret = readFileSync(file);
  } catch (cause) {
    throw new OperatorError('ERR_CONFIG_INVALID', `${place}: ${file} cannot be read`, { cause });
  }
  if (secret.length >= LEAST_SECRET_BYTES) return secret;
  throw new OperatorError(
    'ERR_CONFIG_INVALID',
    `${place}: ${file} holds ${String(secret.length)} bytes, at least ${String(LEAST_SECRET_BYTES)} are needed`,
  );
}

function mapValues<V, W>(record: Readonly<Record<string, V>>, change: (value: V) => W): Record<string, W> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value)]));
}
