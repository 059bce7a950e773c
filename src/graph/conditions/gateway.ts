import type { Condition } from '../../apis/meta.js';
import { condition } from './condition.js';

/** One constructor per outcome of a Gateway. */
export const gatewayConditions = {
  accepted: (): Condition => condition('Accepted', 'True', 'Accepted', 'The Gateway is accepted'),
  someListenersInvalid: (listeners: readonly string[]): Condition =>
    condition(
      'Accepted',
      'True',
      'ListenersNotValid',
      `Listeners ${listeners.join(', ')} are not valid, the others are served`,
    ),
  noListenerValid: (): Condition =>
    condition('Accepted', 'False', 'ListenersNotValid', 'No listener of the Gateway is valid'),
  invalidParameters: (problem: string): Condition =>
    condition('Accepted', 'False', 'InvalidParameters', problem),
  unsupportedAddress: (type: string): Condition =>
    condition(
      'Accepted',
      'False',
      'UnsupportedAddress',
      `Address type ${type} in spec.addresses is not supported, use IPAddress or Hostname`,
    ),

  programmed: (): Condition => condition('Programmed', 'True', 'Programmed', 'The Gateway is served'),
  addressNotUsable: (problem: string): Condition =>
    condition('Programmed', 'False', 'AddressNotUsable', problem),
  addressNotAssigned: (problem: string): Condition =>
    condition('Programmed', 'False', 'AddressNotAssigned', problem),
  notProgrammed: (): Condition =>
    condition('Programmed', 'False', 'Invalid', 'The Gateway is not accepted, so nothing of it is served'),

  resolvedRefs: (): Condition =>
    condition('ResolvedRefs', 'True', 'ResolvedRefs', 'All references of the Gateway are resolved'),
  listenersNotResolved: (listeners: readonly string[]): Condition =>
    condition(
      'ResolvedRefs',
      'False',
      'ListenersNotResolved',
      `References of listeners ${listeners.join(', ')} are not resolved`,
    ),
  invalidClientCertificateRef: (problem: string): Condition =>
    condition('ResolvedRefs', 'False', 'InvalidClientCertificateRef', problem),
  clientCertificateNotPermitted: (problem: string): Condition =>
    condition('ResolvedRefs', 'False', 'RefNotPermitted', problem),

  insecureFrontendValidation: (): Condition =>
    condition(
      'InsecureFrontendValidationMode',
      'True',
      'ConfigurationChanged',
      'spec.tls.frontend uses AllowInsecureFallback: clients without a valid certificate are accepted',
    ),
} as const;
