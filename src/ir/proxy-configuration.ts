/**
 * The intermediate representation: everything the engine needs to serve, as plain readonly data.
 *
 * In: translation writes it. Out: the engine reads it, `translate -o yaml` prints it.
 * It must not know Kubernetes types, hold functions, or depend on the order in which objects arrived:
 * every list is sorted by `key`, and an element whose inputs did not change is the same object (`===`)
 * as in the configuration before, which is how the engine finds out what to send to its workers.
 */
import type { CachePolicy } from './cache-policy.js';
import type { HttpRoute, VirtualHost } from './http.js';
import type { Listener } from './listener.js';
import type { Certificate } from './tls.js';
import type { Upstream } from './upstream.js';

export interface ProxyConfiguration {
  readonly listeners: readonly Listener[];
  readonly virtualHosts: readonly VirtualHost[];
  readonly routes: readonly HttpRoute[];
  readonly upstreams: readonly Upstream[];
  readonly certificates: readonly Certificate[];
  readonly policies: readonly CachePolicy[];
}

export const EMPTY_CONFIGURATION: ProxyConfiguration = {
  listeners: [],
  virtualHosts: [],
  routes: [],
  upstreams: [],
  certificates: [],
  policies: [],
};
