/** Every kind that is read, with what the API server calls it. */
export interface KindDescription {
  readonly kind: Kind;
  readonly group: string;
  /** Preferred first; the first that the API server serves is used. */
  readonly versions: readonly string[];
  readonly plural: string;
  readonly namespaced: boolean;
  /** Must be there for the operator to start; the others are watched when their CRD is installed. */
  readonly required: boolean;
}

export const GATEWAY_GROUP = 'gateway.networking.k8s.io';
export const GATEWAY_EXPERIMENTAL_GROUP = 'gateway.networking.x-k8s.io';
export const TRICKSTER_GROUP = 'trickstercache.org';

export type Kind =
  | 'GatewayClass'
  | 'Gateway'
  | 'ListenerSet'
  | 'HTTPRoute'
  | 'GRPCRoute'
  | 'TLSRoute'
  | 'TCPRoute'
  | 'UDPRoute'
  | 'ReferenceGrant'
  | 'BackendTLSPolicy'
  | 'XBackendTrafficPolicy'
  | 'TricksterCachePolicy'
  | 'AddressPool'
  | 'Service'
  | 'EndpointSlice'
  | 'Secret'
  | 'ConfigMap'
  | 'Namespace';

export const KINDS: readonly KindDescription[] = [
  gateway('GatewayClass', 'gatewayclasses', ['v1', 'v1beta1'], { namespaced: false, required: true }),
  gateway('Gateway', 'gateways', ['v1', 'v1beta1'], { required: true }),
  gateway('ListenerSet', 'listenersets', ['v1']),
  gateway('HTTPRoute', 'httproutes', ['v1', 'v1beta1'], { required: true }),
  gateway('GRPCRoute', 'grpcroutes', ['v1']),
  gateway('TLSRoute', 'tlsroutes', ['v1', 'v1alpha3', 'v1alpha2']),
  gateway('TCPRoute', 'tcproutes', ['v1', 'v1alpha2']),
  gateway('UDPRoute', 'udproutes', ['v1', 'v1alpha2']),
  gateway('ReferenceGrant', 'referencegrants', ['v1', 'v1beta1']),
  gateway('BackendTLSPolicy', 'backendtlspolicies', ['v1', 'v1alpha3']),
  {
    kind: 'XBackendTrafficPolicy',
    group: GATEWAY_EXPERIMENTAL_GROUP,
    versions: ['v1alpha1'],
    plural: 'xbackendtrafficpolicies',
    namespaced: true,
    required: false,
  },
  trickster('TricksterCachePolicy', 'trickstercachepolicies'),
  trickster('AddressPool', 'addresspools', false),
  core('Service', 'services'),
  {
    kind: 'EndpointSlice',
    group: 'discovery.k8s.io',
    versions: ['v1'],
    plural: 'endpointslices',
    namespaced: true,
    required: true,
  },
  core('Secret', 'secrets'),
  core('ConfigMap', 'configmaps'),
  core('Namespace', 'namespaces', false),
];

function gateway(
  kind: Kind,
  plural: string,
  versions: readonly string[],
  { namespaced = true, required = false } = {},
): KindDescription {
  return { kind, group: GATEWAY_GROUP, versions, plural, namespaced, required };
}

function trickster(kind: Kind, plural: string, namespaced = true): KindDescription {
  return { kind, group: TRICKSTER_GROUP, versions: ['v1alpha1'], plural, namespaced, required: false };
}

function core(kind: Kind, plural: string, namespaced = true): KindDescription {
  return { kind, group: '', versions: ['v1'], plural, namespaced, required: true };
}
