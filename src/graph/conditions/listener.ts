import type { Condition } from '../../apis/meta.js';
import { condition } from './condition.js';

/** One constructor per outcome of a listener, of a Gateway or of a ListenerSet. */
export const listenerConditions = {
  accepted: (): Condition => condition('Accepted', 'True', 'Accepted', 'The listener is accepted'),
  unsupportedProtocol: (protocol: string): Condition =>
    condition('Accepted', 'False', 'UnsupportedProtocol', `Protocol ${protocol} is not supported`),
  unsupportedValue: (problem: string): Condition =>
    condition('Accepted', 'False', 'UnsupportedValue', problem),
  portUnavailable: (port: number): Condition =>
    condition('Accepted', 'False', 'PortUnavailable', `Port ${port} is kept for the operator itself`),
  noValidCaCertificate: (problem: string): Condition =>
    condition('Accepted', 'False', 'NoValidCACertificate', problem),
  notAcceptedHostname: (problem: string): Condition =>
    condition('Accepted', 'False', 'HostnameConflict', problem),
  notAcceptedProtocol: (problem: string): Condition =>
    condition('Accepted', 'False', 'ProtocolConflict', problem),
  ownerNotAccepted: (problem: string): Condition => condition('Accepted', 'False', 'Invalid', problem),

  noConflicts: (): Condition =>
    condition('Conflicted', 'False', 'NoConflicts', 'The listener conflicts with no other'),
  hostnameConflict: (problem: string): Condition =>
    condition('Conflicted', 'True', 'HostnameConflict', problem),
  protocolConflict: (problem: string): Condition =>
    condition('Conflicted', 'True', 'ProtocolConflict', problem),

  resolvedRefs: (): Condition =>
    condition('ResolvedRefs', 'True', 'ResolvedRefs', 'All references of the listener are resolved'),
  invalidRouteKinds: (problem: string): Condition =>
    condition('ResolvedRefs', 'False', 'InvalidRouteKinds', problem),
  invalidCertificateRef: (problem: string): Condition =>
    condition('ResolvedRefs', 'False', 'InvalidCertificateRef', problem),
  refNotPermitted: (problem: string): Condition =>
    condition('ResolvedRefs', 'False', 'RefNotPermitted', problem),
  invalidCaCertificateRef: (problem: string): Condition =>
    condition('ResolvedRefs', 'False', 'InvalidCACertificateRef', problem),
  invalidCaCertificateKind: (problem: string): Condition =>
    condition('ResolvedRefs', 'False', 'InvalidCACertificateKind', problem),

  programmed: (): Condition => condition('Programmed', 'True', 'Programmed', 'The listener is served'),
  /** The suite asks for the reason of the conflict in all three conditions (ListenerSetHostnameConflict). */
  notProgrammedHostname: (problem: string): Condition =>
    condition('Programmed', 'False', 'HostnameConflict', problem),
  notProgrammedProtocol: (problem: string): Condition =>
    condition('Programmed', 'False', 'ProtocolConflict', problem),
  notProgrammed: (): Condition =>
    condition('Programmed', 'False', 'Invalid', 'The listener is not valid, so it is not served'),
  addressPending: (): Condition =>
    condition('Programmed', 'False', 'Pending', 'The Gateway has no usable address yet'),

  overlappingHostnames: (hostnames: readonly string[]): Condition =>
    condition(
      'OverlappingTLSConfig',
      'True',
      'OverlappingHostnames',
      `The hostname overlaps with ${hostnames.join(', ')} of other listeners on the port, misdirected requests answer 421`,
    ),
  overlappingCertificates: (names: readonly string[]): Condition =>
    condition(
      'OverlappingTLSConfig',
      'True',
      'OverlappingCertificates',
      `The certificate overlaps with that of other listeners on the port in ${names.join(', ')}, misdirected requests answer 421`,
    ),
} as const;
