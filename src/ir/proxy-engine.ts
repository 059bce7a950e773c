import type { ProxyConfiguration } from './proxy-configuration.js';

/** The data plane as the control plane sees it. */
export interface ProxyEngine {
  /**
   * Serves this configuration. Resolves when every worker does: what it says is what is served. Listeners that
   * cannot be opened are reported in the result and do not hinder the others. Rejects only when the
   * configuration as a whole cannot be served; the last good one then serves on.
   */
  apply(configuration: ProxyConfiguration): Promise<ApplyResult>;
  /** Stops accepting, lets requests in flight end for at most `timeoutMs`, then closes everything. */
  drain(timeoutMs: number): Promise<void>;
  /** Ends at once. */
  close(): Promise<void>;
}

export interface ApplyResult {
  /** Counts up with each configuration that was put into service. */
  readonly revision: number;
  /** By listener key. */
  readonly listeners: ReadonlyMap<string, ListenerOutcome>;
}

export type ListenerOutcome =
  | { readonly state: 'serving' }
  | { readonly state: 'failed'; readonly code: string; readonly message: string };
