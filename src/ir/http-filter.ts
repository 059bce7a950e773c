/** What a rule or a backendRef does to a request or its answer. Values are literal: no template, no variable. */
export type HttpFilter = HeaderModifier | RequestRedirect | UrlRewrite | RequestMirror | Cors | ExternalAuth;

/** `set` replaces every value, `add` appends one, `remove` is by name without regard to case. */
export interface HeaderModifier {
  readonly type: 'request-headers' | 'response-headers';
  readonly set: readonly HeaderValue[];
  readonly add: readonly HeaderValue[];
  readonly remove: readonly string[];
}

export interface HeaderValue {
  readonly name: string;
  readonly value: string;
}

/** Answers without a backend. Absent parts come from the request; the port rule is HTTPRequestRedirectFilter's. */
export interface RequestRedirect {
  readonly type: 'redirect';
  readonly scheme?: 'http' | 'https';
  readonly hostname?: string;
  readonly port?: number;
  readonly path?: PathModifier;
  readonly status: 301 | 302 | 303 | 307 | 308;
}

export interface UrlRewrite {
  readonly type: 'rewrite';
  readonly hostname?: string;
  readonly path?: PathModifier;
}

/** `full` replaces the path and keeps the query. `prefix` replaces the elements that the prefix match met. */
export interface PathModifier {
  readonly type: 'full' | 'prefix';
  readonly value: string;
}

export interface RequestMirror {
  readonly type: 'mirror';
  /** Key into `ProxyConfiguration.upstreams`; absent when the reference is invalid: nothing is sent. */
  readonly upstream?: string;
  readonly numerator: number;
  readonly denominator: number;
}

export interface Cors {
  readonly type: 'cors';
  /** `*`, `https://a.test`, `https://*.a.test:8443`. */
  readonly allowOrigins: readonly string[];
  readonly allowCredentials: boolean;
  readonly allowMethods: readonly string[];
  readonly allowHeaders: readonly string[];
  readonly exposeHeaders: readonly string[];
  readonly maxAgeSeconds: number;
}

/** GEP-1494: the request waits for another service's word; every failure denies. */
export interface ExternalAuth {
  readonly type: 'external-auth';
  readonly protocol: 'http' | 'grpc';
  /** Key into `ProxyConfiguration.upstreams`; absent when the reference is invalid: every request is denied. */
  readonly upstream?: string;
  /** HTTP only: put before the request's path. */
  readonly path: string;
  readonly allowedRequestHeaders: readonly string[];
  readonly allowedResponseHeaders: readonly string[];
  /** Most bytes of the body that are sent along; 0 is none. */
  readonly forwardBodyBytes: number;
}
