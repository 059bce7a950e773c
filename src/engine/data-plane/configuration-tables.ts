import type { CachePolicy } from '../../ir/cache-policy.js';
import type { HttpRoute, VirtualHost } from '../../ir/http.js';
import type { Listener, Server } from '../../ir/listener.js';
import type { Certificate } from '../../ir/tls.js';
import type { Upstream } from '../../ir/upstream.js';
import { SecretBytes } from '../../util/secret-bytes.js';
import type { ConfigurationDelta, PlainCertificate, SectionDelta } from '../workers/configuration-delta.js';

/** A worker's copy of the configuration of one revision, by key. Immutable: the next revision is another one. */
export class ConfigurationTables {
  readonly listeners: ReadonlyMap<string, Listener>;
  readonly virtualHosts: ReadonlyMap<string, VirtualHost>;
  readonly routes: ReadonlyMap<string, HttpRoute>;
  readonly upstreams: ReadonlyMap<string, Upstream>;
  readonly certificates: ReadonlyMap<string, Certificate>;
  readonly policies: ReadonlyMap<string, CachePolicy>;

  constructor(before: ConfigurationTables | undefined, delta: ConfigurationDelta) {
    this.routes = updated(before?.routes, delta.routes);
    this.virtualHosts = updated(
      before?.virtualHosts,
      mapped(delta.virtualHosts, (host) => ({
        ...host,
        routes: named(host.routes, this.routes),
      })),
    );
    this.listeners = updated(
      before?.listeners,
      mapped(delta.listeners, (listener) => ({
        ...listener,
        servers: listener.servers.map((server) => withNamedHosts(server, this.virtualHosts)),
      })),
    );
    this.upstreams = updated(before?.upstreams, delta.upstreams);
    this.certificates = updated(before?.certificates, toCertificates(delta.certificates));
    this.policies = updated(before?.policies, delta.policies);
  }
}

/** The table itself when nothing in it changed. */
function updated<T extends { readonly key: string }>(
  before: ReadonlyMap<string, T> = new Map(),
  delta: SectionDelta<T> | undefined,
): ReadonlyMap<string, T> {
  if (!delta) return before;
  const table = new Map(before);
  for (const key of delta.removals) table.delete(key);
  for (const element of delta.upserts) table.set(element.key, element);
  return table;
}

function mapped<T>(
  delta: SectionDelta<T> | undefined,
  change: (element: T) => T,
): SectionDelta<T> | undefined {
  return delta && { removals: delta.removals, upserts: delta.upserts.map(change) };
}

/** A message has as many copies of a key as there are references: one is enough, and is found faster. */
function named(keys: readonly string[], table: ReadonlyMap<string, { readonly key: string }>): string[] {
  return keys.map((key) => table.get(key)?.key ?? key);
}

function withNamedHosts(server: Server, hosts: ReadonlyMap<string, VirtualHost>): Server {
  const { application } = server;
  if (application.type !== 'http') return server;
  return { ...server, application: { ...application, virtualHosts: named(application.virtualHosts, hosts) } };
}

function toCertificates(
  delta: SectionDelta<PlainCertificate> | undefined,
): SectionDelta<Certificate> | undefined {
  return (
    delta && {
      removals: delta.removals,
      upserts: delta.upserts.map(({ key, chain, privateKey }) => ({
        key,
        chain,
        privateKey: new SecretBytes(privateKey),
      })),
    }
  );
}
