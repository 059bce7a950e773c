import type { WeightedBackend } from './http.js';
import type { ServerTls } from './tls.js';

/**
 * One bound socket: an address, a port and a transport. Listeners of the Gateway API that share it are its
 * {@link Server}s.
 */
export interface Listener {
  /** `tcp/127.0.0.1:80` or `udp/[::]:53`; unique. */
  readonly key: string;
  /** Address to bind; `::` is every address of both families. */
  readonly address: string;
  readonly port: number;
  readonly transport: 'tcp' | 'udp';
  /**
   * `http`: clear-text HTTP/1.1 or HTTP/2 by prior knowledge. `tls`: the ClientHello chooses the server.
   * `tcp`, `udp`: bytes and datagrams are relayed.
   */
  readonly protocol: 'http' | 'tls' | 'tcp' | 'udp';
  /** Sorted by hostname; at most one for each hostname. */
  readonly servers: readonly Server[];
  readonly settings: ListenerSettings;
}

/** Tuning of one socket; names and defaults of research/trickster.md §1.1. */
export interface ListenerSettings {
  /** Most connections open at a time; 0 is no limit. */
  readonly connectionsLimit: number;
  /** Time in ms for a whole request head to arrive. */
  readonly readHeaderTimeoutMs: number;
  /** Largest request body in bytes; negative is no limit. */
  readonly maxRequestBodyBytes: number;
  /** The peer must send a PROXY protocol v1 or v2 header first. */
  readonly proxyProtocol: boolean;
  /** CIDR ranges whose `Forwarded` and `X-Forwarded-*` are believed. */
  readonly trustedProxies: readonly string[];
}

export const DEFAULT_LISTENER_SETTINGS: ListenerSettings = {
  connectionsLimit: 0,
  readHeaderTimeoutMs: 10_000,
  maxRequestBodyBytes: 10 * 1024 * 1024,
  proxyProtocol: false,
  trustedProxies: [],
};

/**
 * What answers for a hostname on a socket. The most specific server whose hostname matches (SNI on `tls`, Host
 * on `http`) is the only one asked: GatewayHTTPListenerIsolation.
 */
export interface Server {
  /** `''` any, `a.example.com`, or `*.example.com` (any number of labels on the left); lower case. */
  readonly hostname: string;
  /** Names of the Gateway API listeners behind it, for logs and metrics: `Gateway/ns/name/listener`. */
  readonly listeners: readonly string[];
  /** Present when TLS ends here. Absent on `http`, `tcp`, `udp` and for TLS passthrough. */
  readonly tls?: ServerTls;
  readonly application: HttpApplication | StreamApplication;
}

/** Serves HTTP with the virtual hosts named by key. */
export interface HttpApplication {
  readonly type: 'http';
  /** Keys into `ProxyConfiguration.virtualHosts`, sorted. */
  readonly virtualHosts: readonly string[];
}

/** Relays bytes (TCP, TLS passthrough or terminated) or datagrams (UDP). */
export interface StreamApplication {
  readonly type: 'stream';
  /** `TCPRoute/ns/name`, for logs and metrics; absent when no route is attached. */
  readonly route?: string;
  /** Empty: every connection is closed at once. */
  readonly backends: readonly WeightedBackend[];
}
