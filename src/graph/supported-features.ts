import type { Kind } from '../apis/kinds.js';
import type { Capabilities } from './settings.js';

/**
 * What `GatewayClass.status.supportedFeatures` says: exactly what is implemented and has a test in the conformance
 * suite of Gateway API v1.6. Names without a test (session persistence, external authorisation, regular
 * expressions) are not published: two texts of the API spell them differently.
 */
const HTTP: readonly string[] = [
  'Gateway',
  'GatewayAddressEmpty',
  'GatewayBackendClientCertificate',
  'GatewayFrontendClientCertificateValidation',
  'GatewayFrontendClientCertificateValidationInsecureFallback',
  'GatewayHTTPListenerIsolation',
  'GatewayHTTPSListenerDetectMisdirectedRequests',
  'GatewayInfrastructure',
  'GatewayPort8080',
  'GatewayStaticAddresses',
  'HTTPRoute',
  'HTTPRoute303RedirectStatusCode',
  'HTTPRoute307RedirectStatusCode',
  'HTTPRoute308RedirectStatusCode',
  'HTTPRouteBackendProtocolH2C',
  'HTTPRouteBackendProtocolWebSocket',
  'HTTPRouteBackendRequestHeaderModification',
  'HTTPRouteBackendTimeout',
  'HTTPRouteCORS',
  'HTTPRouteDestinationPortMatching',
  'HTTPRouteHostRewrite',
  'HTTPRouteMethodMatching',
  'HTTPRouteNamedRouteRule',
  'HTTPRouteParentRefPort',
  'HTTPRoutePathRedirect',
  'HTTPRoutePathRewrite',
  'HTTPRoutePortRedirect',
  'HTTPRouteQueryParamMatching',
  'HTTPRouteRequestMirror',
  'HTTPRouteRequestMultipleMirrors',
  'HTTPRouteRequestPercentageMirror',
  'HTTPRouteRequestTimeout',
  'HTTPRouteResponseHeaderModification',
  'HTTPRouteRetry',
  'HTTPRouteRetryBackendTimeout',
  'HTTPRouteRetryConnectionError',
  'HTTPRouteSchemeRedirect',
];

/** Features that need a kind whose CRD may be missing. */
const BY_KIND: ReadonlyMap<Kind, readonly string[]> = new Map<Kind, readonly string[]>([
  ['BackendTLSPolicy', ['BackendTLSPolicy', 'BackendTLSPolicySANValidation']],
  ['GRPCRoute', ['GRPCRoute', 'GRPCRouteNamedRouteRule']],
  ['ListenerSet', ['ListenerSet']],
  ['ReferenceGrant', ['ReferenceGrant']],
]);

const STREAM_BY_KIND: ReadonlyMap<Kind, readonly string[]> = new Map<Kind, readonly string[]>([
  ['TCPRoute', ['TCPRoute']],
  ['TLSRoute', ['TLSRoute', 'TLSRouteModeMixed', 'TLSRouteModeTerminate']],
  ['UDPRoute', ['UDPRoute']],
]);

/** Sorted, as the API asks for. */
export function supportedFeatures(
  { stream }: Capabilities,
  installedKinds: ReadonlySet<Kind>,
): readonly string[] {
  const features = [...HTTP];
  for (const [kind, names] of [...BY_KIND, ...(stream ? STREAM_BY_KIND : [])]) {
    if (installedKinds.has(kind)) features.push(...names);
  }
  return features.sort();
}
