import type { UpstreamTls } from './tls.js';

/** One port of a backend with its endpoints. Changes of endpoints touch this and nothing else. */
export interface Upstream {
  /** `Service/ns/name/port`, with a suffix where TLS or protocol of its users differ; unique. */
  readonly key: string;
  /** `http`: HTTP/1.1. `h2c`: HTTP/2 by prior knowledge, or by ALPN when `tls` is given. `stream`: bytes. */
  readonly protocol: 'http' | 'h2c' | 'stream';
  /** Sorted by address, then port. Empty: 503. */
  readonly endpoints: readonly Endpoint[];
  readonly tls?: UpstreamTls;
  /** Set when no request may be sent, for example because its BackendTLSPolicy is unusable: answer this. */
  readonly refusal?: Refusal;
  readonly loadBalancing: 'rr';
  /** Time in ms to open a connection. */
  readonly connectTimeoutMs: number;
}

export interface Endpoint {
  readonly address: string;
  readonly port: number;
}

/** An answer the gateway makes itself because something that was asked for cannot be honoured. */
export interface Refusal {
  readonly status: 500 | 502 | 503;
  /** One sentence for the access log and `explain`; never sent to the client. */
  readonly reason: string;
}
