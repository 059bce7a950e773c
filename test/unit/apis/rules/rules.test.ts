import { expect } from 'chai';

import type { Kind } from '../../../../src/apis/kinds.js';
import { problemsOf } from '../../../support/apis.js';

interface Case {
  readonly kind: Kind;
  readonly name: string;
  readonly yaml: string;
  /** Empty: the object is right. */
  readonly want: readonly string[];
}

const rule = (text: string): string => `spec: {rules: [{${text}}]}`;
const many = (count: number, text: string): string => Array.from({ length: count }, () => text).join(', ');

const httpRoute: readonly Omit<Case, 'kind'>[] = [
  {
    name: 'parents told apart by section',
    yaml: 'spec: {parentRefs: [{name: g, sectionName: a}, {name: g, sectionName: b}, {name: g, namespace: o}]}',
    want: [],
  },
  {
    name: 'one parent twice',
    yaml: 'spec: {parentRefs: [{name: g}, {name: g}]}',
    want: ['spec.parentRefs[1] must differ from parentRefs[0] in sectionName or port'],
  },
  {
    name: 'a parent as a whole and a section of it',
    yaml: 'spec: {parentRefs: [{name: g}, {name: g, sectionName: a}]}',
    want: [
      'spec.parentRefs[1] refers to the parent of parentRefs[0]: both must give a sectionName or both a port',
    ],
  },
  {
    name: 'rule names',
    yaml: 'spec: {rules: [{name: a}, {name: b}, {}, {}, {name: a}]}',
    want: ['spec.rules[4].name must be unique within the route: "a" names an earlier rule'],
  },
  {
    name: 'too many matches in all',
    yaml: `spec: {rules: [{matches: [${many(64, '{}')}]}, {matches: [${many(64, '{}')}]}, {}]}`,
    want: ['spec.rules must not have more than 128 matches in all, not 129: split the route'],
  },
  {
    name: 'a Service without port',
    yaml: rule('backendRefs: [{name: s}, {name: t, kind: Other, group: x.test}]'),
    want: ['spec.rules[0].backendRefs[0].port is required for a Service: the port of the Service to send to'],
  },
  {
    name: 'relative path',
    yaml: rule('matches: [{path: {value: foo}}]'),
    want: ['spec.rules[0].matches[0].path.value must start with "/", not "foo"'],
  },
  ...['//', '/./', '/../', '%2f', '%2F', '#'].map((part) => ({
    name: `path with ${part}`,
    yaml: rule(`matches: [{path: {type: Exact, value: "/a${part}b"}}]`),
    want: [`spec.rules[0].matches[0].path.value must not contain "${part}" for type Exact`],
  })),
  ...['/..', '/.'].map((end) => ({
    name: `path that ends with ${end}`,
    yaml: rule(`matches: [{path: {value: "/a${end}"}}]`),
    want: [`spec.rules[0].matches[0].path.value must not end with "${end}" for type PathPrefix`],
  })),
  {
    name: 'path with a space',
    yaml: rule('matches: [{path: {value: "/a b"}}]'),
    want: [
      'spec.rules[0].matches[0].path.value must only have characters of a URL path: percent-encode the others',
    ],
  },
  {
    name: 'regular expressions',
    yaml: rule('matches: [{path: {type: RegularExpression, value: "a//b#"}}]'),
    want: [],
  },
  {
    name: 'redirect and rewrite',
    yaml: rule('filters: [{type: RequestRedirect, requestRedirect: {}}, {type: URLRewrite, urlRewrite: {}}]'),
    want: ['spec.rules[0].filters must not have both a RequestRedirect and a URLRewrite filter: remove one'],
  },
  {
    name: 'redirect and backends',
    yaml: rule('filters: [{type: RequestRedirect, requestRedirect: {}}], backendRefs: [{name: s, port: 80}]'),
    want: [
      'spec.rules[0].backendRefs must be empty beside a RequestRedirect filter: nothing is sent to a backend',
    ],
  },
  {
    name: 'a filter twice, also on a backend',
    yaml: rule(
      `backendRefs: [{name: s, port: 80, filters: [${many(2, '{type: URLRewrite, urlRewrite: {}}')}]}]`,
    ),
    want: ['spec.rules[0].backendRefs[0].filters must not have more than one URLRewrite filter: merge them'],
  },
  {
    name: 'mirrors may be repeated',
    yaml: rule(
      `filters: [${many(2, '{type: RequestMirror, requestMirror: {backendRef: {name: s, port: 80}}}')}]`,
    ),
    want: [],
  },
  {
    name: 'a filter without and one with a foreign field',
    yaml: rule(
      'filters: [{type: CORS}, {type: ExtensionRef, extensionRef: {group: a.test, kind: B, name: c}, cors: {}}]',
    ),
    want: [
      'spec.rules[0].filters[0].cors is required for type CORS',
      'spec.rules[0].filters[1].cors must not be set for type ExtensionRef',
    ],
  },
  {
    name: 'mirror by percent and fraction, numerator too large',
    yaml: rule(
      'filters: [{type: RequestMirror, requestMirror: {backendRef: {name: s}, percent: 5, fraction: {numerator: 101}}}]',
    ),
    want: [
      'spec.rules[0].filters[0].requestMirror.backendRef.port is required for a Service: the port of the Service to send to',
      'spec.rules[0].filters[0].requestMirror must not have both percent and fraction: remove one',
      'spec.rules[0].filters[0].requestMirror.fraction.numerator must not be greater than the denominator',
    ],
  },
  {
    name: 'path modifiers',
    yaml: rule(
      'filters: [{type: URLRewrite, urlRewrite: {path: {type: ReplaceFullPath, replacePrefixMatch: /a}}}]',
    ),
    want: [
      'spec.rules[0].filters[0].urlRewrite.path.replaceFullPath is required for type ReplaceFullPath',
      'spec.rules[0].filters[0].urlRewrite.path.replacePrefixMatch must not be set for type ReplaceFullPath',
    ],
  },
  {
    name: 'a prefix is replaced where two are matched',
    yaml: rule(
      'matches: [{path: {value: /a}}, {path: {value: /b}}], filters: [{type: RequestRedirect, requestRedirect: {path: {type: ReplacePrefixMatch, replacePrefixMatch: /c}}}]',
    ),
    want: [
      'spec.rules[0].matches must be exactly one match of type PathPrefix, because a filter replaces the matched prefix',
    ],
  },
  {
    name: 'a prefix is replaced by a backend where the match is exact',
    yaml: rule(
      'matches: [{path: {type: Exact, value: /a}}], backendRefs: [{name: s, port: 80, filters: [{type: URLRewrite, urlRewrite: {path: {type: ReplacePrefixMatch, replacePrefixMatch: /c}}}]}]',
    ),
    want: [
      'spec.rules[0].matches must be exactly one match of type PathPrefix, because a filter replaces the matched prefix',
    ],
  },
  {
    name: 'CORS with * beside others',
    yaml: rule(
      'filters: [{type: CORS, cors: {allowOrigins: ["*", "https://a.test"], allowMethods: ["*"], allowHeaders: [a, "*"]}}]',
    ),
    want: [
      'spec.rules[0].filters[0].cors.allowOrigins must not have "*" beside other values',
      'spec.rules[0].filters[0].cors.allowHeaders must not have "*" beside other values',
    ],
  },
  {
    name: 'external authorisation of the other protocol',
    yaml: rule(
      'filters: [{type: ExternalAuth, externalAuth: {protocol: GRPC, backendRef: {name: a, port: 1}, http: {}}}]',
    ),
    want: [
      'spec.rules[0].filters[0].externalAuth.grpc is required for protocol GRPC',
      'spec.rules[0].filters[0].externalAuth.http must not be set for protocol GRPC',
    ],
  },
  {
    name: 'backendRequest longer than request',
    yaml: rule('timeouts: {request: 1s, backendRequest: 1001ms}'),
    want: ['spec.rules[0].timeouts.backendRequest must not be longer than the request timeout'],
  },
  { name: 'no request timeout', yaml: rule('timeouts: {request: 0s, backendRequest: 10s}'), want: [] },
  {
    name: 'sessions',
    yaml: 'spec: {rules: [{sessionPersistence: {cookieConfig: {lifetimeType: Permanent}}}, {sessionPersistence: {type: Header, cookieConfig: {}}}]}',
    want: [
      'spec.rules[0].sessionPersistence.absoluteTimeout is required for cookies of lifetimeType Permanent',
      'spec.rules[1].sessionPersistence.cookieConfig must only be set for type Cookie',
    ],
  },
];

const listeners = (text: string): string => `spec: {gatewayClassName: c, listeners: [${text}]}`;

const others: readonly Case[] = [
  ...httpRoute.map((one) => ({ ...one, kind: 'HTTPRoute' as const })),
  {
    kind: 'GRPCRoute',
    name: 'methods and filters',
    yaml: rule(
      'matches: [{method: {}}, {method: {service: "a/b", method: "c-d"}}, {method: {type: RegularExpression, service: "a/b"}}], filters: [{type: RequestMirror}, {type: ExtensionRef, extensionRef: {group: a.test, kind: B, name: c}}], backendRefs: [{name: s}]',
    ),
    want: [
      'spec.rules[0].backendRefs[0].port is required for a Service: the port of the Service to send to',
      'spec.rules[0].matches[0].method must have a service, a method or both',
      'spec.rules[0].matches[1].method.service must be a service name such as "shop.v1.Cart"',
      'spec.rules[0].matches[1].method.method must be a method name such as "AddItem"',
      'spec.rules[0].filters[0].requestMirror is required for type RequestMirror',
    ],
  },
  {
    kind: 'TLSRoute',
    name: 'an IP address as host name',
    yaml: 'spec: {hostnames: [192.0.2.1, a.test], rules: [{backendRefs: [{name: s, port: 443}]}]}',
    want: ['spec.hostnames[0] must be a host name, not the IP address 192.0.2.1'],
  },
  {
    kind: 'TCPRoute',
    name: 'two rules',
    yaml: 'spec: {rules: [{backendRefs: [{name: s, port: 1}]}, {backendRefs: [{name: s, port: 1}]}]}',
    want: ['spec.rules must have at most 1 element'],
  },
  {
    kind: 'Gateway',
    name: 'TLS where there is none, and none where it must be',
    yaml: listeners(
      '{name: a, port: 80, protocol: HTTP, tls: {certificateRefs: [{name: c}]}}, {name: b, port: 443, protocol: TLS}, {name: c, port: 444, protocol: HTTPS, tls: {mode: Passthrough}}, {name: d, port: 445, protocol: HTTPS, tls: {}}',
    ),
    want: [
      'spec.listeners[0].tls must not be set for protocol HTTP: use HTTPS or TLS',
      'spec.listeners[1].tls is required for protocol TLS',
      'spec.listeners[2].tls.mode must be Terminate for protocol HTTPS: use protocol TLS to pass through',
      'spec.listeners[3].tls.certificateRefs is required for mode Terminate: name the Secret with the certificate',
    ],
  },
  {
    kind: 'Gateway',
    name: 'names and identities of listeners',
    yaml: listeners(
      '{name: a, port: 80, protocol: HTTP}, {name: a, port: 81, protocol: HTTP}, {name: b, port: 80, protocol: HTTP}, {name: t, port: 90, protocol: TCP, hostname: x.test}',
    ),
    want: [
      'spec.listeners[1] must differ from element 0 in name',
      'spec.listeners[3].hostname must not be set for protocol TCP',
      'spec.listeners[2] must differ from listener "a" in port, protocol or hostname',
    ],
  },
  {
    kind: 'Gateway',
    name: 'addresses',
    yaml: 'spec: {gatewayClassName: c, listeners: [{name: a, port: 80, protocol: HTTP}], addresses: [{value: a.test}, {type: Hostname, value: "a_b"}, {value: 192.0.2.1}, {value: 192.0.2.1}, {type: IPAddress}, {value: "2001:db8::1"}]}',
    want: [
      'spec.addresses[0].value must be an IP address for type IPAddress, not "a.test"',
      'spec.addresses[1].value must be a host name for type Hostname, not "a_b"',
      'spec.addresses[3].value must be unique: "192.0.2.1" is listed before',
    ],
  },
  {
    kind: 'Gateway',
    name: 'infrastructure keys',
    yaml: 'spec: {gatewayClassName: c, listeners: [{name: a, port: 80, protocol: HTTP}], infrastructure: {labels: {"a/b/c": x, a.test/b: y}, annotations: {"-": z}}}',
    want: [
      'spec.infrastructure.labels["a/b/c"] must have a key of the form "name" or "example.com/name"',
      'spec.infrastructure.annotations["-"] must have a key of the form "name" or "example.com/name"',
    ],
  },
  {
    kind: 'ListenerSet',
    name: 'listeners as those of Gateways',
    yaml: 'spec: {parentRef: {name: g}, listeners: [{name: u, port: 53, protocol: UDP, tls: {options: {a: b}}}]}',
    want: ['spec.listeners[0].tls must not be set for protocol UDP: use HTTPS or TLS'],
  },
  {
    kind: 'BackendTLSPolicy',
    name: 'targets, trust and names',
    yaml: 'spec: {targetRefs: [{group: "", kind: Service, name: a}, {group: "", kind: Service, name: a, sectionName: p}, {group: "", kind: Service, name: b}, {group: "", kind: Service, name: b}], validation: {hostname: a.test, subjectAltNames: [{type: URI, hostname: a.test}]}}',
    want: [
      'spec.targetRefs[1] refers to the target of targetRefs[0]: both must give a sectionName',
      'spec.targetRefs[3] must differ from targetRefs[2] in sectionName',
      'spec.validation must have caCertificateRefs or wellKnownCACertificates: System',
      'spec.validation.subjectAltNames[0].uri is required for type URI',
      'spec.validation.subjectAltNames[0].hostname must not be set for type URI',
    ],
  },
  {
    kind: 'BackendTLSPolicy',
    name: 'two kinds of trust',
    yaml: 'spec: {targetRefs: [{group: "", kind: Service, name: a}], validation: {hostname: a.test, wellKnownCACertificates: System, caCertificateRefs: [{group: "", kind: ConfigMap, name: c}]}}',
    want: ['spec.validation must not have both caCertificateRefs and wellKnownCACertificates: remove one'],
  },
  {
    kind: 'XBackendTrafficPolicy',
    name: 'intervals and sessions',
    yaml: 'spec: {targetRefs: [{group: "", kind: Service, name: a}], retryConstraint: {budget: {interval: 500ms}, minRetryRate: {interval: 0s}}, sessionPersistence: {type: Header, cookieConfig: {}}}',
    want: [
      'spec.retryConstraint.budget.interval must be from 1s to 1h',
      'spec.retryConstraint.minRetryRate.interval must be more than 0s and at most 1h',
      'spec.sessionPersistence.cookieConfig must only be set for type Cookie',
    ],
  },
  {
    kind: 'TricksterCachePolicy',
    name: 'targets',
    yaml: 'spec: {targetRefs: [{kind: GRPCRoute, name: a}, {kind: Gateway, name: g, sectionName: s}, {kind: Service, name: a, group: apps}, {kind: Service, name: b}, {kind: Service, name: b}]}',
    want: [
      'spec.targetRefs[0].kind must be one of Gateway, HTTPRoute, Service, Ingress, not "GRPCRoute"',
      'spec.targetRefs[1].sectionName must not be set for kind Gateway',
      'spec.targetRefs[2].group must be "" for kind Service, or be left out',
      'spec.targetRefs[4] must differ from targetRefs[3]',
    ],
  },
  {
    kind: 'TricksterCachePolicy',
    name: 'headers and sessions',
    yaml: 'spec: {targetRefs: [{kind: Service, name: b}], requestHeaders: {X-A: a, "+x-a": b, "b c": d}, stickyTTL: 10ms, maxTTL: 1h30m, timeout: 7d}',
    want: [
      'spec.requestHeaders["+x-a"] must not name the header of "X-A" again',
      'spec.requestHeaders["b c"] must have a key that is a header name, with "+" before it to append or "-" to remove',
      'spec.stickyTTL must be at least 1s',
    ],
  },
  {
    kind: 'TricksterCachePolicy',
    name: 'durations without unit',
    yaml: 'spec: {targetRefs: [{kind: Service, name: b}], maxTTL: "60"}',
    want: ['spec.maxTTL must be a duration with a unit such as "90s", "1h30m" or "7d", not "60"'],
  },
  {
    kind: 'AddressPool',
    name: 'ranges',
    yaml: 'spec: {addresses: [10.0.0.0/8, 10.0.0.9-10.0.0.1, "fd00::/129", "fd00::1-fd00::9", 10.0.0.1]}',
    want: [
      'spec.addresses[1] must be a CIDR, an address or a range first-last of one family, not "10.0.0.9-10.0.0.1"',
      'spec.addresses[2] must be a CIDR, an address or a range first-last of one family, not "fd00::/129"',
    ],
  },
  {
    kind: 'Service',
    name: 'ports',
    yaml: 'metadata: {name: a.b, namespace: ns}\nspec: {ports: [{port: 80}, {port: 81, name: x}, {port: 82, name: x}, {port: 80, name: y}]}',
    want: [
      'spec.ports[3] must differ from element 0 in port, protocol',
      'metadata.name must be a DNS label: at most 63 of a-z, 0-9 and "-"',
      'spec.ports[0].name is required when there are several ports',
      'spec.ports[2].name must be unique: "x" names an earlier port',
    ],
  },
  { kind: 'Service', name: 'no port', yaml: 'spec: {}', want: ['spec.ports must have at least one port'] },
  { kind: 'Service', name: 'headless without port', yaml: 'spec: {clusterIP: None}', want: [] },
  {
    kind: 'EndpointSlice',
    name: 'addresses and Service',
    yaml: 'addressType: IPv4\nendpoints: [{addresses: ["::1"]}, {addresses: [127.0.0.1]}]',
    want: [
      'endpoints[0].addresses[0] must be an IPv4 address, not "::1"',
      'metadata.labels["kubernetes.io/service-name"] is required: the name of the Service that the endpoints belong to',
    ],
  },
  {
    kind: 'Secret',
    name: 'base64 and keys',
    yaml: 'type: kubernetes.io/tls\ndata: {tls.crt: "-----BEGIN"}',
    want: [
      'data["tls.crt"] must be base64 (or put the text into stringData)',
      'data["tls.key"] is required for type kubernetes.io/tls',
    ],
  },
  {
    kind: 'ConfigMap',
    name: 'binary data',
    yaml: 'data: {a: x}\nbinaryData: {a: AAAA, b: "?"}',
    want: ['binaryData.b must be base64', 'binaryData.a must not be in data as well'],
  },
  {
    kind: 'Namespace',
    name: 'name',
    yaml: 'metadata: {name: a.b}',
    want: ['metadata.name must be a DNS label: at most 63 of a-z, 0-9 and "-"'],
  },
];

describe('rules of objects in files', () => {
  for (const { kind, name, yaml, want } of others) {
    it(`${kind}: ${name}`, () => {
      expect(problemsOf(kind, yaml)).to.deep.equal(want);
    });
  }
});
