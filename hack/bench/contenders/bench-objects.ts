/** The resources that make the product do what its peers' configuration files say. */
import type { BenchCertificate } from '../bench-certificate.js';
import { hostName, PREFIXES } from './contender.js';

const NAMESPACE = 'bench';
const GATEWAY_API = 'gateway.networking.k8s.io/v1';
const OWN_API = 'trickstercache.org/v1alpha1';
const BACKEND = [{ name: 'origin', port: 80 }];
const PARENT = [{ name: 'bench' }];

export interface GatewayOptions {
  readonly http: number;
  readonly https: number;
  readonly origin: number;
  readonly traffic: 'http' | 'grpc';
  readonly certificate: BenchCertificate;
}

/** The Gateway with its listeners, the certificate and the backend. */
export function gatewayObjects({ http, https, origin, traffic, certificate }: GatewayOptions): object[] {
  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  return [
    {
      apiVersion: GATEWAY_API,
      kind: 'GatewayClass',
      metadata: { name: 'trickster' },
      spec: { controllerName: 'trickstercache.org/gateway-controller' },
    },
    {
      apiVersion: OWN_API,
      kind: 'AddressPool',
      metadata: { name: 'loopback' },
      spec: { addresses: ['127.0.0.1'] },
    },
    {
      apiVersion: GATEWAY_API,
      kind: 'Gateway',
      metadata: { name: 'bench', namespace: NAMESPACE },
      spec: {
        gatewayClassName: 'trickster',
        listeners: [
          { name: 'http', port: http, protocol: 'HTTP' },
          { name: 'https', port: https, protocol: 'HTTPS', tls: { certificateRefs: [{ name: 'bench' }] } },
        ],
      },
    },
    {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'bench', namespace: NAMESPACE },
      type: 'kubernetes.io/tls',
      data: { 'tls.crt': base64(certificate.chain), 'tls.key': base64(certificate.key) },
    },
    ...backend(origin, traffic === 'grpc' ? { appProtocol: 'kubernetes.io/h2c' } : {}),
  ];
}

function backend(port: number, protocol: { readonly appProtocol?: string }): object[] {
  const metadata = { name: 'origin', namespace: NAMESPACE };
  return [
    { apiVersion: 'v1', kind: 'Service', metadata, spec: { ports: [{ port: 80, ...protocol }] } },
    {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: { ...metadata, labels: { 'kubernetes.io/service-name': 'origin' } },
      addressType: 'IPv4',
      ports: [{ port, protocol: 'TCP', ...protocol }],
      endpoints: [{ addresses: ['127.0.0.1'], conditions: { ready: true } }],
    },
  ];
}

/** Everything to the origin; `/c/` through the cache; `/filtered/` with a match, filters and a retry on top. */
export function httpRoutes(): object[] {
  const filtered = {
    name: 'filtered',
    matches: [
      { path: { type: 'PathPrefix', value: '/filtered' }, headers: [{ name: 'X-Bench', value: 'yes' }] },
    ],
    filters: [
      {
        type: 'RequestHeaderModifier',
        requestHeaderModifier: { set: [{ name: 'X-Team', value: 'blue' }], remove: ['X-Bench'] },
      },
      {
        type: 'ResponseHeaderModifier',
        responseHeaderModifier: { add: [{ name: 'X-Served-By', value: 'bench' }] },
      },
    ],
    retry: { codes: [503], attempts: 2, backoff: '10ms' },
    backendRefs: BACKEND,
  };
  const cached = {
    name: 'cached',
    matches: [{ path: { type: 'PathPrefix', value: '/c' } }],
    backendRefs: BACKEND,
  };
  const rest = { name: 'rest', backendRefs: BACKEND };
  return [
    {
      apiVersion: GATEWAY_API,
      kind: 'HTTPRoute',
      metadata: { name: 'all', namespace: NAMESPACE },
      spec: { parentRefs: PARENT, rules: [filtered, cached, rest] },
    },
    {
      apiVersion: OWN_API,
      kind: 'TricksterCachePolicy',
      metadata: { name: 'cached', namespace: NAMESPACE },
      spec: {
        targetRefs: [
          { group: 'gateway.networking.k8s.io', kind: 'HTTPRoute', name: 'all', sectionName: 'cached' },
        ],
        handler: 'proxycache',
      },
    },
  ];
}

export function grpcRoute(): object[] {
  return [
    {
      apiVersion: GATEWAY_API,
      kind: 'GRPCRoute',
      metadata: { name: 'all', namespace: NAMESPACE },
      spec: { parentRefs: PARENT, rules: [{ backendRefs: BACKEND }] },
    },
  ];
}

/** One route for each virtual host, one rule for each prefix. */
export function hostRoutes(count: number): object[] {
  return Array.from({ length: count }, (_, index) => ({
    apiVersion: GATEWAY_API,
    kind: 'HTTPRoute',
    metadata: { name: `host-${index}`, namespace: NAMESPACE },
    spec: {
      parentRefs: PARENT,
      hostnames: [hostName(index)],
      rules: PREFIXES.map((value) => ({
        matches: [{ path: { type: 'PathPrefix', value } }],
        backendRefs: BACKEND,
      })),
    },
  }));
}

/** A route whose rule is another one each time, and says so in its answers. */
export function changingRoute(revision: number): object {
  const responseHeaderModifier = { set: [{ name: 'X-Revision', value: String(revision) }] };
  return {
    apiVersion: GATEWAY_API,
    kind: 'HTTPRoute',
    metadata: { name: 'changing', namespace: NAMESPACE },
    spec: {
      parentRefs: PARENT,
      hostnames: ['changing.bench.test'],
      rules: [
        {
          matches: [{ path: { type: 'PathPrefix', value: `/revision-${revision}` } }],
          filters: [{ type: 'ResponseHeaderModifier', responseHeaderModifier }],
          backendRefs: BACKEND,
        },
      ],
    },
  };
}
