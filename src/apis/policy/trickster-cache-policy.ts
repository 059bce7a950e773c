import { Type } from '@sinclair/typebox';

import {
  atomicList,
  group,
  kindName,
  mapOf,
  namespaced,
  objectName,
  oneOf,
  subdomain,
  type Described,
} from '../schema.js';

/** Trickster's durations: also days, weeks and years, and fractions. */
const tricksterDuration = (description: string) =>
  Type.Optional(
    Type.String({
      maxLength: 64,
      pattern: '^([0-9]+(\\.[0-9]+)?(ns|us|ms|s|m|h|d|w|y))+$',
      form: 'a duration with a unit such as "90s", "1h30m" or "7d"',
      description,
    }),
  );

const name = (description: string) =>
  Type.Optional(Type.String({ minLength: 1, maxLength: 253, description }));

const choice = <const T extends readonly string[]>(values: T, description: string) =>
  Type.Optional(oneOf(values, { description }));

const keyParts = (description: string) =>
  Type.Optional(atomicList(Type.String({ minLength: 1, maxLength: 256 }), { maxItems: 64, description }));

const headerOperations = (description: string) =>
  Type.Optional(
    mapOf(Type.String({ maxLength: 4096 }), {
      maxProperties: 64,
      description,
      'x-kubernetes-validations': [
        {
          rule: 'self.all(k, k.matches("^[A-Za-z0-9!#$%&\'*+.^_`|~-]+$") && k.size() <= 256)',
          message: 'keys must be header names, with + before them to append or - to remove',
        },
      ],
    }),
  );

export const CachePolicyTargetRefSchema = Type.Object(
  {
    group: Type.Optional(group()),
    kind: kindName(),
    name: objectName(),
    sectionName: Type.Optional(subdomain()),
  },
  {
    'x-kubernetes-validations': [
      {
        rule: "self.kind in ['Gateway', 'HTTPRoute', 'Service', 'Ingress']",
        message: 'kind must be one of Gateway, HTTPRoute, Service, Ingress',
      },
      {
        rule: "!has(self.group) || self.group == (self.kind in ['Gateway', 'HTTPRoute'] ? 'gateway.networking.k8s.io' : self.kind == 'Ingress' ? 'networking.k8s.io' : '')",
        message: "group must be the kind's own, or be left out",
      },
      {
        rule: "!has(self.sectionName) || self.kind in ['HTTPRoute', 'Service']",
        message: 'sectionName must only be set for HTTPRoute (a rule) and Service (a port)',
      },
    ],
  },
);
export type CachePolicyTargetRef = Described<typeof CachePolicyTargetRefSchema>;

/** What a policy sets, without what it governs. */
export const cachePolicySettings = {
  handler: choice(['proxy', 'proxycache'], 'proxycache stores responses, proxy does not.'),
  provider: choice(
    ['prometheus', 'influxdb', 'clickhouse', 'graphite'],
    'What the backend speaks: its range queries are answered from stored series.',
  ),
  cacheName: name('A cache of the configuration file; alone it makes the handler proxycache.'),
  negativeCacheName: name('A negative cache of the configuration file.'),
  maxTTL: tricksterDuration('Upper bound of the freshness of what is stored.'),
  timeout: tricksterDuration('Time an upstream has to answer.'),
  collapsedForwarding: choice(
    ['basic', 'progressive'],
    'Whether requests that wait for the same response get it whole (basic) or as it arrives (progressive).',
  ),
  cacheKeyParams: keyParts('Query parameters in the key. Omitted: inherited; empty: none; "*": all.'),
  cacheKeyHeaders: keyParts('Request headers in the key. Omitted: inherited; empty: none.'),
  requestHeaders: headerOperations(
    'Changes of the request that an upstream gets. Name sets, +Name appends, -Name removes.',
  ),
  responseHeaders: headerOperations('Changes of the response, before it is decided whether it is stored.'),
  cors: Type.Optional(
    Type.Object(
      {
        mode: choice(
          ['preserve', 'merge', 'replace', 'disable'],
          "What becomes of the upstream's own CORS headers.",
        ),
        headers: headerOperations('Response headers of cross-origin requests.'),
      },
      { description: 'Headers of cross-origin requests.' },
    ),
  ),
  healthMode: choice(
    ['probe', 'provider'],
    'Whether endpoints are probed or believed to be as their slices say.',
  ),
  loadBalancing: choice(
    ['rr', 'p2c', 'lc', 'lt', 'hrw'],
    'Round robin, better of two, least connections, least time or rendezvous hash.',
  ),
  loadBalancingKey: Type.Optional(
    Type.String({
      maxLength: 256,
      pattern: "^(client_ip|host|(header|cookie|query):[A-Za-z0-9!#$%&'*+\\-.^_\\x60|~]+)$",
      form: '"client_ip", "host", "header:NAME", "cookie:NAME" or "query:NAME"',
      description: 'What hrw hashes: client_ip, host, header:NAME, cookie:NAME or query:NAME.',
    }),
  ),
  sticky: choice(['cookie', 'header', 'table', 'none'], 'How a client is kept on one endpoint.'),
  stickyKey: name('Name of the cookie or header, or what the table is keyed by.'),
  stickyTTL: tricksterDuration('Longest life of a session, at least 1s.'),
  stickyIdle: tricksterDuration('Longest pause within a session, at least 1s.'),
  stepAlignment: name('How the steps of range queries are aligned.'),
  resultHeader: choice(['Expose', 'Hide'], 'Whether clients see X-Trickster-Result; exposed when omitted.'),
};

/** Caching and forwarding of Gateways, HTTPRoutes, Services and what is beneath them. */
export const TricksterCachePolicySchema = namespaced('TricksterCachePolicy', 'trickstercache.org/v1alpha1', {
  spec: Type.Object(
    {
      targetRefs: atomicList(CachePolicyTargetRefSchema, {
        minItems: 1,
        maxItems: 16,
        description: 'What the policy governs, in its own namespace.',
        'x-kubernetes-validations': [
          {
            rule: 'self.all(a, self.exists_one(b, a.kind == b.kind && a.name == b.name && (has(a.sectionName) ? has(b.sectionName) && a.sectionName == b.sectionName : !has(b.sectionName))))',
            message: 'each target must be named once',
          },
        ],
      }),
      ...cachePolicySettings,
    },
    {
      description:
        'What is governed, and how. A field that is omitted is inherited from a less specific target.',
    },
  ),
});
export type TricksterCachePolicy = Described<typeof TricksterCachePolicySchema>;
