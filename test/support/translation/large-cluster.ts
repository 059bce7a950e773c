import type { AnyObject } from '../../../src/apis/objects.js';
import { CONTROLLER_NAME } from './settings.js';
import { objectFrom } from './cluster.js';

export interface LargeClusterSize {
  readonly gateways: number;
  readonly routes: number;
  /** Two of each Service. */
  readonly endpoints: number;
}

/** Gateways of one shared address in ten namespaces, routes over them, a Service with two endpoints for each two routes. */
export function largeCluster({ gateways, routes, endpoints }: LargeClusterSize): readonly AnyObject[] {
  const services = Math.max(1, endpoints / 2);
  return [
    objectFrom({
      kind: 'GatewayClass',
      metadata: { name: 'lab' },
      spec: { controllerName: CONTROLLER_NAME },
    }),
    ...Array.from({ length: gateways }, (_, index) => gateway(index)),
    ...Array.from({ length: services }, (_, index) => service(index)),
    ...Array.from({ length: services }, (_, index) => slice(index, 0)),
    ...Array.from({ length: routes }, (_, index) => route(index, gateways, services)),
  ];
}

function time(index: number): string {
  return new Date(1_767_225_600_000 + index * 1_000).toISOString().replace('.000', '');
}

function gateway(index: number): AnyObject {
  return objectFrom({
    kind: 'Gateway',
    metadata: { name: `g${index}`, namespace: `ns${index % 10}`, creationTimestamp: time(index) },
    spec: {
      gatewayClassName: 'lab',
      listeners: [
        { name: 'http', port: 80, protocol: 'HTTP', hostname: `*.g${index}.test` },
        { name: 'alt', port: 8080, protocol: 'HTTP', hostname: `*.g${index}.test` },
      ],
    },
  });
}

function service(index: number): AnyObject {
  return objectFrom({
    kind: 'Service',
    metadata: { name: `s${index}`, namespace: `ns${index % 10}` },
    spec: { ports: [{ name: 'web', port: 80, targetPort: 8080 }] },
  });
}

export function slice(index: number, version: number): AnyObject {
  return objectFrom({
    kind: 'EndpointSlice',
    metadata: {
      name: `s${index}-x`,
      namespace: `ns${index % 10}`,
      labels: { 'kubernetes.io/service-name': `s${index}` },
    },
    addressType: 'IPv4',
    ports: [{ name: 'web', port: 8080 }],
    endpoints: [
      { addresses: [`10.${index >> 8}.${index & 255}.1`] },
      { addresses: [`10.${index >> 8}.${index & 255}.${2 + version}`] },
    ],
  });
}

export function route(index: number, gateways: number, services: number, path = '/'): AnyObject {
  const parent = index % gateways;
  const namespace = `ns${parent % 10}`;
  const target = (parent % 10) + 10 * (index % Math.max(1, Math.floor(services / 10)));
  return objectFrom({
    kind: 'HTTPRoute',
    metadata: { name: `r${index}`, namespace, creationTimestamp: time(1_000 + index) },
    spec: {
      parentRefs: [{ name: `g${parent}` }],
      hostnames: [`r${index}.g${parent}.test`],
      rules: [
        { matches: [{ path: { value: path } }], backendRefs: [{ name: `s${target}`, port: 80 }] },
        {
          matches: [{ path: { type: 'Exact', value: '/health' } }],
          filters: [{ type: 'RequestRedirect', requestRedirect: { scheme: 'https' } }],
        },
      ],
    },
  });
}
