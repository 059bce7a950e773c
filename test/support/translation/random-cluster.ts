import fc from 'fast-check';

import { keyOf } from '../../../src/apis/meta.js';
import type { AnyObject } from '../../../src/apis/objects.js';
import { objectFrom } from './cluster.js';
import { CONTROLLER_NAME } from './settings.js';

/** One change of a cluster: an object takes a variant, or goes. */
export interface Change {
  readonly key: string;
  /** Undefined: the object is deleted. */
  readonly object: AnyObject | undefined;
}

type Raw = Readonly<Record<string, unknown>>;

/** A cluster in which everything is in order; changes are made to it. */
export function healthyCluster(): ReadonlyMap<string, AnyObject> {
  const objects = [
    { kind: 'GatewayClass', metadata: { name: 'lab' }, spec: { controllerName: CONTROLLER_NAME } },
    {
      kind: 'GatewayClass',
      metadata: { name: 'pooled' },
      spec: {
        controllerName: CONTROLLER_NAME,
        parametersRef: { group: '', kind: 'ConfigMap', name: 'n0', namespace: 'x' },
      },
    },
    { kind: 'ConfigMap', metadata: { name: 'n0', namespace: 'x' }, data: { addressing: 'pool' } },
    { kind: 'AddressPool', metadata: { name: 'n0' }, spec: { addresses: ['10.1.0.0/30'] } },
    ...namespaces.flatMap((own) => [
      { kind: 'Namespace', metadata: { name: own, labels: { team: 'red' } } },
      healthyGateway('n0', own, 'lab', `*.${own}.test`),
      healthyGateway('n1', own, 'pooled', '*.test'),
      ...['n0', 'n1'].flatMap((service) => [
        {
          kind: 'Service',
          metadata: { name: service, namespace: own },
          spec: { ports: [{ name: 'web', port: 80 }] },
        },
        {
          kind: 'EndpointSlice',
          metadata: { name: service, namespace: own, labels: { 'kubernetes.io/service-name': service } },
          addressType: 'IPv4',
          ports: [{ name: 'web', port: 8080 }],
          endpoints: [{ addresses: ['10.0.0.1'] }],
        },
        {
          kind: 'Secret',
          metadata: { name: service, namespace: own },
          type: 'kubernetes.io/tls',
          stringData: { 'tls.crt': 'CERT names=*.a.test pair=1', 'tls.key': 'KEY pair=1' },
        },
        {
          kind: 'HTTPRoute',
          metadata: { name: service, namespace: own, creationTimestamp: '2026-01-01T00:01:00Z' },
          spec: { parentRefs: [{ name: service }], rules: [{ backendRefs: [{ name: service, port: 80 }] }] },
        },
      ]),
    ]),
  ].map((raw) => objectFrom(raw));
  return new Map(
    objects.map((object) => [`${object.kind}/${keyOf(object).replace(/^([^/]*)$/, '/$1')}`, object]),
  );
}

function healthyGateway(own: string, space: string, gatewayClassName: string, host: string): Raw {
  return {
    kind: 'Gateway',
    metadata: { name: own, namespace: space, creationTimestamp: '2026-01-01T00:00:00Z' },
    spec: {
      gatewayClassName,
      listeners: [
        { name: 'l0', port: 80, protocol: 'HTTP', allowedRoutes: { namespaces: { from: 'All' } } },
        {
          name: 'l1',
          port: 443,
          protocol: 'HTTPS',
          hostname: host,
          tls: { certificateRefs: [{ name: 'n0' }] },
        },
      ],
      allowedListeners: { namespaces: { from: 'All' } },
    },
  };
}

const hostnames = [undefined, 'a.test', 'b.a.test', '*.a.test', '*.test'] as const;
const namespaces = ['x', 'y'] as const;

/** Few names and few values, so that objects meet, refer to each other and conflict all the time. */
export function arbitraryChange(): fc.Arbitrary<Change> {
  return fc
    .tuple(
      fc.oneof(
        { weight: 2, arbitrary: gatewayClass() },
        { weight: 4, arbitrary: gateway() },
        { weight: 2, arbitrary: listenerSet() },
        { weight: 6, arbitrary: httpRoute() },
        { weight: 2, arbitrary: grpcRoute() },
        { weight: 2, arbitrary: streamRoute() },
        { weight: 4, arbitrary: backends() },
        { weight: 3, arbitrary: others() },
      ),
      fc.integer({ min: 0, max: 9 }),
    )
    .map(([raw, fate]) => {
      const metadata = raw['metadata'] as { readonly name: string; readonly namespace?: string };
      const key = `${String(raw['kind'])}/${metadata.namespace ?? ''}/${metadata.name}`;
      return { key, object: fate === 0 ? undefined : objectFrom(raw, 'tolerant') };
    });
}

const age = fc.integer({ min: 0, max: 3 }).map((minute) => `2026-01-01T00:0${minute}:00Z`);
const namespace = fc.constantFrom(...namespaces);
const hostname = fc.constantFrom(...hostnames);
const name = fc.constantFrom('n0', 'n1');

function meta(kind: string) {
  return fc.record({ name, namespace, creationTimestamp: age }).map((metadata) => ({ kind, metadata }));
}

function gatewayClass(): fc.Arbitrary<Raw> {
  return fc.record({
    kind: fc.constant('GatewayClass'),
    metadata: fc.record({ name: fc.constantFrom('lab', 'pooled') }),
    spec: fc
      .record({
        controllerName: fc.constantFrom(
          CONTROLLER_NAME,
          CONTROLLER_NAME,
          CONTROLLER_NAME,
          'example.net/other',
        ),
        name: fc.constantFrom(undefined, undefined, 'n0', 'n1'),
      })
      .map(({ controllerName, name: parameters }) => ({
        controllerName,
        ...(parameters !== undefined && {
          parametersRef: { group: '', kind: 'ConfigMap', name: parameters, namespace: 'x' },
        }),
      })),
  });
}

function listener(index: number): fc.Arbitrary<Raw> {
  return fc
    .record({
      port: fc.constantFrom(80, 80, 80, 443, 443, 8080, 8481),
      protocol: fc.constantFrom('HTTP', 'HTTP', 'HTTP', 'HTTP', 'HTTPS', 'HTTPS', 'TLS', 'TCP', 'UDP'),
      hostname,
      from: fc.constantFrom('All', 'All', 'Same', 'Selector'),
      secret: fc.record({ name, namespace: fc.constantFrom(undefined, 'y') }),
      mode: fc.constantFrom('Terminate', 'Passthrough'),
    })
    .map(({ port, protocol, hostname: host, from, secret, mode }) => ({
      name: `l${index}`,
      port,
      protocol,
      ...(host !== undefined && { hostname: host }),
      ...((protocol === 'HTTPS' || protocol === 'TLS') && { tls: { mode, certificateRefs: [secret] } }),
      allowedRoutes: { namespaces: { from, selector: { matchLabels: { team: 'red' } } } },
    }));
}

const listeners = fc
  .tuple(listener(0), listener(1), listener(2))
  .chain((all) => fc.integer({ min: 1, max: 3 }).map((count) => all.slice(0, count)));

function gateway(): fc.Arbitrary<Raw> {
  return fc
    .record({
      base: meta('Gateway'),
      gatewayClassName: fc.constantFrom('lab', 'lab', 'pooled'),
      listeners,
      from: fc.constantFrom('All', 'All', 'Same', 'None'),
      addresses: fc.constantFrom(
        undefined,
        [{ type: 'IPAddress', value: '10.1.0.2' }],
        [{ type: 'IPAddress' }],
      ),
    })
    .map(({ base, gatewayClassName, listeners: own, from, addresses }) => ({
      ...base,
      spec: {
        gatewayClassName,
        listeners: own,
        allowedListeners: { namespaces: { from } },
        ...(addresses && { addresses }),
      },
    }));
}

function listenerSet(): fc.Arbitrary<Raw> {
  return fc
    .record({ base: meta('ListenerSet'), parent: fc.record({ name, namespace }), listeners })
    .map(({ base, parent, listeners: own }) => ({ ...base, spec: { parentRef: parent, listeners: own } }));
}

const parentRef = fc
  .record({
    kind: fc.constantFrom('Gateway', 'Gateway', 'ListenerSet'),
    name,
    namespace,
    sectionName: fc.constantFrom(undefined, undefined, 'l0', 'l1'),
  })
  .map(({ sectionName, ...ref }) => (sectionName === undefined ? ref : { ...ref, sectionName }));

const parentRefs = fc.uniqueArray(parentRef, {
  minLength: 1,
  maxLength: 2,
  selector: (ref) => JSON.stringify(ref),
});

const backendRef = fc.record({
  kind: fc.constantFrom('Service', 'Service', 'Service', 'Service', 'Service', 'Widget'),
  name,
  namespace,
  port: fc.constantFrom(80, 81),
  weight: fc.constantFrom(0, 1, 3),
});

function httpRoute(): fc.Arbitrary<Raw> {
  const rule = fc
    .record({
      value: fc.constantFrom('/', '/a', '/a/b'),
      type: fc.constantFrom('PathPrefix', 'Exact', 'RegularExpression'),
      filter: fc.constantFrom(
        [],
        [{ type: 'RequestRedirect', requestRedirect: { scheme: 'https' } }],
        [{ type: 'ExtensionRef', extensionRef: { group: 'g.test', kind: 'K', name: 'k' } }],
      ),
      backendRefs: fc.array(backendRef, { maxLength: 2 }),
    })
    .map(({ value, type, filter, backendRefs }) => ({
      matches: [{ path: { type, value: type === 'RegularExpression' ? `${value}(?=x)` : value } }],
      filters: filter,
      backendRefs,
    }));
  return fc
    .record({
      base: meta('HTTPRoute'),
      parentRefs,
      hostname,
      rules: fc.array(rule, { minLength: 1, maxLength: 2 }),
    })
    .map(({ base, parentRefs: parents, hostname: host, rules }) => ({
      ...base,
      spec: { parentRefs: parents, ...(host !== undefined && { hostnames: [host] }), rules },
    }));
}

function grpcRoute(): fc.Arbitrary<Raw> {
  return fc
    .record({
      base: meta('GRPCRoute'),
      parentRefs,
      hostname,
      backendRefs: fc.array(backendRef, { maxLength: 2 }),
    })
    .map(({ base, parentRefs: parents, hostname: host, backendRefs }) => ({
      ...base,
      spec: {
        parentRefs: parents,
        ...(host !== undefined && { hostnames: [host] }),
        rules: [{ backendRefs }],
      },
    }));
}

function streamRoute(): fc.Arbitrary<Raw> {
  return fc
    .record({
      kind: fc.constantFrom('TCPRoute', 'UDPRoute', 'TLSRoute'),
      base: meta(''),
      parentRefs,
      backendRefs: fc.array(backendRef, { minLength: 1, maxLength: 2 }),
    })
    .map(({ kind, base, parentRefs: parents, backendRefs }) => ({
      ...base,
      kind,
      spec: {
        parentRefs: parents,
        ...(kind === 'TLSRoute' && { hostnames: ['b.a.test'] }),
        rules: [{ backendRefs }],
      },
    }));
}

function backends(): fc.Arbitrary<Raw> {
  const service = fc
    .record({
      base: meta('Service'),
      appProtocol: fc.constantFrom(undefined, 'kubernetes.io/h2c', 'kubernetes.io/wss'),
      type: fc.constantFrom('ClusterIP', 'ClusterIP', 'ExternalName'),
    })
    .map(({ base, appProtocol, type }) => ({
      ...base,
      spec: {
        type,
        ports: [
          { name: 'web', port: 80, ...(appProtocol !== undefined && { appProtocol }) },
          { name: 'dns', port: 80, protocol: 'UDP' },
        ],
      },
    }));
  const slice = fc
    .record({
      base: meta('EndpointSlice'),
      service: name,
      address: fc.constantFrom('10.0.0.1', '10.0.0.2'),
      ready: fc.boolean(),
    })
    .map(({ base, service: label, address, ready }) => ({
      ...base,
      metadata: { ...base.metadata, labels: { 'kubernetes.io/service-name': label } },
      addressType: 'IPv4',
      ports: [{ name: 'web', port: 8080 }],
      endpoints: [{ addresses: [address], conditions: { ready } }],
    }));
  return fc.oneof(service, slice);
}

function others(): fc.Arbitrary<Raw> {
  const grant = fc
    .record({
      base: meta('ReferenceGrant'),
      fromKind: fc.constantFrom('HTTPRoute', 'GRPCRoute', 'TCPRoute', 'Gateway', 'ListenerSet'),
      from: namespace,
      toKind: fc.constantFrom('Service', 'Secret'),
    })
    .map(({ base, fromKind, from, toKind }) => ({
      ...base,
      spec: {
        from: [{ group: 'gateway.networking.k8s.io', kind: fromKind, namespace: from }],
        to: [{ group: '', kind: toKind }],
      },
    }));
  const space = fc
    .record({ name: namespace, team: fc.constantFrom('red', 'blue') })
    .map(({ name: own, team }) => ({ kind: 'Namespace', metadata: { name: own, labels: { team } } }));
  const secret = fc
    .record({ base: meta('Secret'), pair: fc.constantFrom('1', '2') })
    .map(({ base, pair }) => ({
      ...base,
      type: 'kubernetes.io/tls',
      stringData: { 'tls.crt': `CERT names=*.a.test pair=${pair}`, 'tls.key': 'KEY pair=1' },
    }));
  const parameters = fc
    .record({
      base: meta('ConfigMap'),
      data: fc.constantFrom(
        { addressing: 'pool' },
        { addressing: 'pool', routing_mode: 'service' },
        { cross_namespace_paths: 'true', allow_mixed_routes: 'true' },
        { addressing: 'shared' },
        { timeout: 'soon' },
      ),
    })
    .map(({ base, data }) => ({ ...base, data }));
  const pool = fc
    .record({ name, addresses: fc.constantFrom(['10.1.0.0/31'], ['10.1.0.2', '10.1.0.9-10.1.0.10']) })
    .map(({ name: own, addresses }) => ({
      kind: 'AddressPool',
      metadata: { name: own },
      spec: { addresses },
    }));
  return fc.oneof(grant, space, secret, parameters, pool);
}
