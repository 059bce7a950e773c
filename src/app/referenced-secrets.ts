import type { ClusterSnapshot } from '../apis/cluster-snapshot.js';
import { keyOf } from '../apis/meta.js';

/**
 * Secrets (`namespace/name`) that Gateways of our classes and their ListenerSets refer to. They are watched by name
 * when they are not of the type kubernetes.io/tls, which all are watched.
 */
export function referencedSecrets(cluster: ClusterSnapshot, controllerName: string): ReadonlySet<string> {
  const gateways = [...cluster.Gateway.values()].filter(
    ({ spec }) => cluster.GatewayClass.get(spec.gatewayClassName)?.spec.controllerName === controllerName,
  );
  const ours = new Set(gateways.map(keyOf));
  const listenerSets = [...cluster.ListenerSet.values()].filter(({ metadata, spec }) =>
    ours.has(`${spec.parentRef.namespace ?? metadata.namespace}/${spec.parentRef.name}`),
  );
  return new Set([
    ...gateways.flatMap(({ metadata, spec }) =>
      keysOf(metadata.namespace, spec.tls?.backend?.clientCertificateRef),
    ),
    ...[...gateways, ...listenerSets].flatMap(({ metadata, spec }) =>
      spec.listeners.flatMap(({ tls }) => keysOf(metadata.namespace, ...(tls?.certificateRefs ?? []))),
    ),
  ]);
}

function keysOf(namespace: string, ...references: readonly (Reference | undefined)[]): string[] {
  return references.flatMap((reference) =>
    reference ? [`${reference.namespace ?? namespace}/${reference.name}`] : [],
  );
}

interface Reference {
  readonly namespace?: string;
  readonly name: string;
}
