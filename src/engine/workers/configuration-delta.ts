import type { CachePolicy } from '../../ir/cache-policy.js';
import type { HttpRoute, VirtualHost } from '../../ir/http.js';
import type { Listener } from '../../ir/listener.js';
import type { ProxyConfiguration } from '../../ir/proxy-configuration.js';
import type { Certificate } from '../../ir/tls.js';
import type { Upstream } from '../../ir/upstream.js';
import { listDifference } from '../../util/differences.js';

/** A certificate as it travels to a worker: structured clones cannot carry a class that hides its text. */
export interface PlainCertificate {
  readonly key: string;
  readonly chain: string;
  readonly privateKey: string;
}

/** Changed and removed elements of one section of the configuration. */
export interface SectionDelta<T> {
  readonly upserts: readonly T[];
  readonly removals: readonly string[];
}

/** What leads from one configuration to the next; sections without a change are absent. */
export interface ConfigurationDelta {
  readonly listeners?: SectionDelta<Listener>;
  readonly virtualHosts?: SectionDelta<VirtualHost>;
  readonly routes?: SectionDelta<HttpRoute>;
  readonly upstreams?: SectionDelta<Upstream>;
  readonly certificates?: SectionDelta<PlainCertificate>;
  readonly policies?: SectionDelta<CachePolicy>;
}

/** Compares by identity: an element that is the same object is not looked into. */
export function configurationDelta(from: ProxyConfiguration, to: ProxyConfiguration): ConfigurationDelta {
  const certificates = sectionDelta(from.certificates, to.certificates);
  return {
    ...present('listeners', sectionDelta(from.listeners, to.listeners)),
    ...present('virtualHosts', sectionDelta(from.virtualHosts, to.virtualHosts)),
    ...present('routes', sectionDelta(from.routes, to.routes)),
    ...present('upstreams', sectionDelta(from.upstreams, to.upstreams)),
    ...present(
      'certificates',
      certificates && { ...certificates, upserts: certificates.upserts.map(toPlainCertificate) },
    ),
    ...present('policies', sectionDelta(from.policies, to.policies)),
  };
}

export function isEmptyDelta(delta: ConfigurationDelta): boolean {
  return Object.keys(delta).length === 0;
}

function present<K extends string, V>(name: K, value: V | undefined): Partial<Record<K, V>> {
  // A computed key has the type `string`; the name is known to be K.
  return value === undefined ? {} : ({ [name]: value } as Record<K, V>);
}

function sectionDelta<T extends { readonly key: string }>(
  from: readonly T[],
  to: readonly T[],
): SectionDelta<T> | undefined {
  const { removed, added } = listDifference(from, to);
  if (removed.length === 0 && added.length === 0) return undefined;
  const replaced = new Set(added.map(({ key }) => key));
  return {
    upserts: added,
    removals: removed.flatMap(({ key }) => (replaced.has(key) ? [] : [key])),
  };
}

function toPlainCertificate({ key, chain, privateKey }: Certificate): PlainCertificate {
  return { key, chain, privateKey: privateKey.reveal() };
}
