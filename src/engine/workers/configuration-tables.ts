import type { CachePolicy } from '../../ir/cache-policy.js';
import type { HttpRoute, VirtualHost } from '../../ir/http.js';
import type { Listener } from '../../ir/listener.js';
import type { Upstream } from '../../ir/upstream.js';
import type { ConfigurationDelta, PlainCertificate } from './configuration-delta.js';

/** A worker's copy of the configuration, by key. Elements are replaced, never changed. */
export class ConfigurationTables {
  readonly listeners = new Map<string, Listener>();
  readonly virtualHosts = new Map<string, VirtualHost>();
  readonly routes = new Map<string, HttpRoute>();
  readonly upstreams = new Map<string, Upstream>();
  readonly certificates = new Map<string, PlainCertificate>();
  readonly policies = new Map<string, CachePolicy>();

  update(delta: ConfigurationDelta): void {
    updateTable(this.listeners, delta.listeners);
    updateTable(this.virtualHosts, delta.virtualHosts);
    updateTable(this.routes, delta.routes);
    updateTable(this.upstreams, delta.upstreams);
    updateTable(this.certificates, delta.certificates);
    updateTable(this.policies, delta.policies);
  }
}

function updateTable<T extends { readonly key: string }>(
  table: Map<string, T>,
  delta: { readonly upserts: readonly T[]; readonly removals: readonly string[] } | undefined,
): void {
  if (!delta) return;
  for (const key of delta.removals) table.delete(key);
  for (const element of delta.upserts) table.set(element.key, element);
}
