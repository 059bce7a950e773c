import { Type } from '@sinclair/typebox';

import { atomicList, group, namespaced, objectName, oneOf, subdomain, type Described } from '../schema.js';

/** Trickster's durations: also days, weeks and years, and fractions. */
const tricksterDuration = (description: string) =>
  Type.String({
    maxLength: 64,
    pattern: '^([0-9]+(\\.[0-9]+)?(ns|us|ms|s|m|h|d|w|y))+$',
    form: 'a duration with a unit such as "90s", "1h30m" or "7d"',
    description,
  });

const configuredName = (description: string) => Type.String({ minLength: 1, maxLength: 253, description });

const keyParts = (description: string) =>
  atomicList(Type.String({ minLength: 1, maxLength: 256 }), { maxItems: 64, description });

const headerOperations = (description: string) =>
  Type.Record(Type.String(), Type.String({ maxLength: 4096 }), { maxProperties: 64, description });

export const CachePolicyTargetRefSchema = Type.Object({
  group: Type.Optional(group()),
  kind: oneOf(['Gateway', 'HTTPRoute', 'Service', 'Ingress']),
  name: objectName(),
  sectionName: Type.Optional(subdomain()),
});
export type CachePolicyTargetRef = Described<typeof CachePolicyTargetRefSchema>;

/** What a policy sets, without what it governs. */
export const cachePolicySettings = {
  handler: Type.Optional(oneOf(['proxy', 'proxycache'])),
  provider: Type.Optional(oneOf(['prometheus', 'influxdb', 'clickhouse', 'graphite'])),
  cacheName: Type.Optional(configuredName('A cache of the configuration file.')),
  negativeCacheName: Type.Optional(configuredName('A negative cache of the configuration file.')),
  maxTTL: Type.Optional(tricksterDuration('Upper bound of the freshness of what is stored.')),
  timeout: Type.Optional(tricksterDuration('Time an upstream has to answer.')),
  collapsedForwarding: Type.Optional(oneOf(['basic', 'progressive'])),
  cacheKeyParams: Type.Optional(keyParts('Query parameters in the key. Omitted: inherited; []: none.')),
  cacheKeyHeaders: Type.Optional(keyParts('Request headers in the key. Omitted: inherited; []: none.')),
  requestHeaders: Type.Optional(
    headerOperations(
      'Name: value sets, +Name: value appends, -Name: "" removes, before the upstream sees it.',
    ),
  ),
  responseHeaders: Type.Optional(
    headerOperations('The same for responses, before it is decided whether they are stored.'),
  ),
  cors: Type.Optional(
    Type.Object({
      mode: Type.Optional(oneOf(['preserve', 'merge', 'replace', 'disable'])),
      headers: Type.Optional(headerOperations('Response headers of cross-origin requests.')),
    }),
  ),
  healthMode: Type.Optional(oneOf(['probe', 'provider'])),
  loadBalancing: Type.Optional(oneOf(['rr', 'p2c', 'lc', 'lt', 'hrw'])),
  loadBalancingKey: Type.Optional(
    Type.String({
      maxLength: 256,
      pattern: "^(client_ip|host|(header|cookie|query):[A-Za-z0-9!#$%&'*+\\-.^_\\x60|~]+)$",
      form: '"client_ip", "host", "header:NAME", "cookie:NAME" or "query:NAME"',
    }),
  ),
  sticky: Type.Optional(oneOf(['cookie', 'header', 'table', 'none'])),
  stickyKey: Type.Optional(configuredName('Name of the cookie or header, or what the table is keyed by.')),
  stickyTTL: Type.Optional(tricksterDuration('Longest life of a session; at least 1s.')),
  stickyIdle: Type.Optional(tricksterDuration('Longest pause within a session; at least 1s.')),
  stepAlignment: Type.Optional(configuredName('How the steps of range queries are aligned.')),
  resultHeader: Type.Optional(oneOf(['Expose', 'Hide'])),
};

/** Caching and forwarding of a Gateway, HTTPRoute or Service. */
export const TricksterCachePolicySchema = namespaced('TricksterCachePolicy', 'trickstercache.org/v1alpha1', {
  spec: Type.Object({
    targetRefs: atomicList(CachePolicyTargetRefSchema, {
      minItems: 1,
      maxItems: 16,
      description: 'What the policy governs, in its own namespace.',
    }),
    ...cachePolicySettings,
  }),
});
export type TricksterCachePolicy = Described<typeof TricksterCachePolicySchema>;
