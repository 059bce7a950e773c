import type { BenchCertificate } from '../bench-certificate.js';
import type { PinnedProcess } from '../pinned-process.js';

export type ContenderName = 'trickster' | 'baseline' | 'nginx' | 'haproxy' | 'varnish' | 'envoy';

/** What a contender shall serve. */
export interface Setup {
  /** For its files; exists. */
  readonly directory: string;
  /** Port of the origin. */
  readonly origin: number;
  /**
   * `http`: everything goes to an HTTP/1.1 origin, and what is below `/c/` through a cache.
   * `grpc`: calls go to an h2c origin.
   */
  readonly traffic: 'http' | 'grpc';
  readonly certificate: BenchCertificate;
  /** Virtual hosts `h0.bench.test`, `h1.bench.test`, … with five prefixes each, beside everything else. */
  readonly hosts: number;
}

export interface Contender {
  readonly name: ContenderName;
  /** The product's wire. */
  readonly wire: string | null;
  /** Port of its backend. */
  readonly origin: number;
  /** HTTP/1.1; with gRPC h2c. */
  readonly http: number;
  /** HTTP/1.1 and h2; 0 when it has no such listener. */
  readonly https: number;
  /** Port of the product's metrics. */
  readonly metrics?: number;
  readonly process: PinnedProcess;
  /** Makes the contender take another configuration; `revision` is a new number each time. */
  change?(revision: number): void;
  /** Serves another certificate from now on. */
  rotate?(certificate: BenchCertificate): void;
}

export type StartContender = (setup: Setup) => Promise<Contender>;

/** The prefixes of a virtual host. */
export const PREFIXES = ['/a', '/b', '/c0', '/d', '/e'] as const;

export function hostName(index: number): string {
  return `h${index}.bench.test`;
}
