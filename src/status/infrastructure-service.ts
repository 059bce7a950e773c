import { createHash } from 'node:crypto';

import type { PlannedInfrastructure } from '../graph/status-plan.js';

const GATEWAY_NAME_LABEL = 'gateway.networking.k8s.io/gateway-name';

const MAX_LABEL = 63;
/** What is kept of a long name in front of the hash that makes it distinct. */
const PREFIX = 50;

/**
 * The Service that stands for a Gateway's infrastructure: without selector and address, so it carries no traffic; it
 * is there for the labels and annotations, which tools of the platform select by (GEP-1867). It goes with its Gateway.
 */
export function infrastructureService(
  { gateway, labels, annotations }: PlannedInfrastructure,
  apiVersion: string,
) {
  const { kind, namespace, name, uid } = gateway;
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: {
      name: serviceName(gateway),
      namespace,
      labels: { ...labels, [GATEWAY_NAME_LABEL]: labelValue(name) },
      annotations,
      ownerReferences: [{ apiVersion, kind, name, uid }],
    },
    spec: { clusterIP: 'None' },
  };
}

/** A DNS label (RFC 1123), distinct for each Gateway of a namespace whatever its name is (case S-16). */
export function serviceName({ name }: PlannedInfrastructure['gateway']): string {
  const readable = name
    .replaceAll(/[^a-z0-9-]/g, '-')
    .slice(0, PREFIX)
    .replace(/-+$/, '');
  return `gateway-${readable.slice(0, PREFIX - 8)}-${hashOf(name)}`;
}

function labelValue(name: string): string {
  return name.length <= MAX_LABEL
    ? name
    : `${name.slice(0, PREFIX).replace(/[^a-z0-9]+$/i, '')}-${hashOf(name)}`;
}

function hashOf(name: string): string {
  return createHash('sha256').update(name).digest('hex').slice(0, 8);
}
