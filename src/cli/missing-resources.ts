import type { ClusterSnapshot } from '../apis/cluster-snapshot.js';
import type { HttpRoute } from '../apis/gateway/index.js';
import { parseObject } from '../apis/validate.js';

const CLASS_NAME = 'trickster';
const CONTROLLER_NAME = 'trickstercache.org/gateway-controller';

/**
 * Invents what a lone route needs, so that its translation can be looked at: the Services and Gateways that it names,
 * and their class. Only what is not there is made.
 */
export function addMissingResources(cluster: ClusterSnapshot): ClusterSnapshot {
  const routes = [...cluster.HTTPRoute.values()];
  const gateways = new Map(cluster.Gateway);
  const services = new Map(cluster.Service);
  const classes = new Map(cluster.GatewayClass);
  for (const route of routes) {
    for (const key of gatewayKeys(route)) if (!gateways.has(key)) add(gateways, key, inventGateway(key));
    for (const [key, ports] of servicePorts(route))
      if (!services.has(key)) add(services, key, inventService(key, ports));
  }
  for (const { spec } of gateways.values()) {
    if (!classes.has(spec.gatewayClassName))
      add(classes, spec.gatewayClassName, inventClass(spec.gatewayClassName));
  }
  return { ...cluster, Gateway: gateways, Service: services, GatewayClass: classes };
}

function add<T>(objects: Map<string, T>, key: string, object: T | undefined): void {
  if (object !== undefined) objects.set(key, object);
}

function gatewayKeys({ metadata, spec }: HttpRoute): string[] {
  return (spec.parentRefs ?? []).flatMap(({ kind, namespace = metadata.namespace, name }) =>
    kind === 'Gateway' ? [`${namespace}/${name}`] : [],
  );
}

function servicePorts({ metadata, spec }: HttpRoute): Map<string, Set<number>> {
  const ports = new Map<string, Set<number>>();
  for (const { kind, namespace = metadata.namespace, name, port } of spec.rules.flatMap(
    (rule) => rule.backendRefs ?? [],
  )) {
    if (kind !== 'Service' || port === undefined) continue;
    const key = `${namespace}/${name}`;
    ports.set(key, (ports.get(key) ?? new Set()).add(port));
  }
  return ports;
}

function inventGateway(key: string) {
  return parsed('Gateway', {
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind: 'Gateway',
    metadata: metadataOf(key),
    spec: {
      gatewayClassName: CLASS_NAME,
      listeners: [
        { name: 'http', port: 80, protocol: 'HTTP', allowedRoutes: { namespaces: { from: 'All' } } },
      ],
    },
  });
}

function inventService(key: string, ports: ReadonlySet<number>) {
  return parsed('Service', {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: metadataOf(key),
    spec: { ports: [...ports].sort((a, b) => a - b).map((port) => ({ name: `port-${String(port)}`, port })) },
  });
}

function inventClass(name: string) {
  return parsed('GatewayClass', {
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind: 'GatewayClass',
    metadata: { name, uid: `invented/${name}`, generation: 1, creationTimestamp: '1970-01-01T00:00:00Z' },
    spec: { controllerName: CONTROLLER_NAME },
  });
}

function metadataOf(key: string) {
  const [namespace = '', name = ''] = key.split('/');
  return {
    namespace,
    name,
    uid: `invented/${key}`,
    generation: 1,
    creationTimestamp: '1970-01-01T00:00:00Z',
  };
}

function parsed<K extends 'Gateway' | 'Service' | 'GatewayClass'>(kind: K, raw: object) {
  const result = parseObject(kind, raw);
  return 'object' in result ? result.object : undefined;
}
