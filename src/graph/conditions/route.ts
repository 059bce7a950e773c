import type { Condition } from '../../apis/meta.js';
import { condition } from './condition.js';

/** One constructor per outcome of a route at one of its parents. */
export const routeConditions = {
  accepted: (): Condition => condition('Accepted', 'True', 'Accepted', 'The route is accepted'),
  noMatchingParent: (problem: string): Condition =>
    condition('Accepted', 'False', 'NoMatchingParent', problem),
  notAllowedByListeners: (problem: string): Condition =>
    condition('Accepted', 'False', 'NotAllowedByListeners', problem),
  noMatchingListenerHostname: (hostnames: readonly string[]): Condition =>
    condition(
      'Accepted',
      'False',
      'NoMatchingListenerHostname',
      `No hostname of spec.hostnames (${hostnames.join(', ')}) matches a listener of the parent`,
    ),
  unsupportedValue: (problem: string): Condition =>
    condition('Accepted', 'False', 'UnsupportedValue', problem),
  incompatibleFilters: (problem: string): Condition =>
    condition('Accepted', 'False', 'IncompatibleFilters', problem),
  /** The host belongs to another namespace on the shared address. */
  hostnameConflict: (problem: string): Condition =>
    condition('Accepted', 'False', 'HostnameConflict', problem),
  /** HTTPRoute and GRPCRoute with a common hostname on one listener: the older one is accepted. */
  mixedRoutes: (problem: string): Condition => condition('Accepted', 'False', 'HostnameConflict', problem),

  resolvedRefs: (): Condition =>
    condition('ResolvedRefs', 'True', 'ResolvedRefs', 'All references of the route are resolved'),
  invalidKind: (problem: string): Condition => condition('ResolvedRefs', 'False', 'InvalidKind', problem),
  backendNotFound: (problem: string): Condition =>
    condition('ResolvedRefs', 'False', 'BackendNotFound', problem),
  refNotPermitted: (problem: string): Condition =>
    condition('ResolvedRefs', 'False', 'RefNotPermitted', problem),

  /** The message must start with `Dropped Rule` (RouteConditionPartiallyInvalid). */
  partiallyInvalid: (reason: 'UnsupportedValue' | 'IncompatibleFilters', problem: string): Condition =>
    condition('PartiallyInvalid', 'True', reason, `Dropped ${problem}`),
} as const;
