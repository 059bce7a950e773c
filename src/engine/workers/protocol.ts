/**
 * What the main thread and a worker say to each other. A revision is put into service in two steps, so that one
 * worker that cannot serve it keeps every worker on the revision before: `prepare` compiles, `commit` swaps.
 */
import type { ListenerOutcome } from '../../ir/proxy-engine.js';
import type { ConfigurationDelta } from './configuration-delta.js';

export type ToWorker =
  | {
      readonly type: 'prepare';
      readonly revision: number;
      readonly delta: ConfigurationDelta;
      /** Rows of the shared counters for listeners that are new. */
      readonly rows: readonly (readonly [listener: string, row: number])[];
    }
  | { readonly type: 'commit'; readonly revision: number }
  | { readonly type: 'discard'; readonly revision: number }
  | { readonly type: 'drain'; readonly timeoutMs: number };

export type FromWorker =
  | { readonly type: 'started'; readonly wire: string }
  | { readonly type: 'prepared'; readonly revision: number }
  | { readonly type: 'refused'; readonly revision: number; readonly reason: string }
  | {
      readonly type: 'committed';
      readonly revision: number;
      readonly outcomes: readonly (readonly [listener: string, outcome: ListenerOutcome])[];
    }
  | { readonly type: 'drained' };

/** Handed to a worker when it is started. */
export interface WorkerStart {
  readonly counters: SharedArrayBuffer;
  readonly options: DataPlaneOptions;
}

/** Settings of the data plane that do not change while the process lives. */
export interface DataPlaneOptions {
  readonly wire: 'auto' | 'handle' | 'net';
  readonly logLevel: string;
  /** Several workers bind the same ports. */
  readonly reusePort: boolean;
  /** Named caches of the configuration file; budgets are those of one worker. */
  readonly caches: Readonly<Record<string, CacheSettings>>;
  /** Named negative caches: status → lifetime in ms. */
  readonly negativeCaches: Readonly<Record<string, Readonly<Record<string, number>>>>;
  readonly accessLog: AccessLogSettings;
  /** Key of TLS session tickets that all workers share: 48 bytes, hex. */
  readonly ticketKeys: string;
  /** Key of session persistence that all workers share, and all replicas that were given one: 32 bytes, hex. */
  readonly sessionKey: string;
}

export interface CacheSettings {
  readonly maxSizeBytes: number;
  readonly maxObjectSizeBytes: number;
}

export interface AccessLogSettings {
  readonly enabled: boolean;
  /** `common`, `combined`, `json`, or a format of `%{…}` tokens. */
  readonly format: string;
  /** 0 to 1. */
  readonly sampleRate: number;
}
