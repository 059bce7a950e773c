import type { Condition } from '../../apis/meta.js';
import { condition } from './condition.js';

/** One constructor per outcome of a BackendTLSPolicy at a Gateway that uses its target. */
export const backendTlsConditions = {
  accepted: (): Condition => condition('Accepted', 'True', 'Accepted', 'The policy is accepted'),
  /** Another policy has some of its targets. */
  partlyConflicted: (problem: string): Condition => condition('Accepted', 'True', 'Accepted', problem),
  conflicted: (problem: string): Condition => condition('Accepted', 'False', 'Conflicted', problem),
  invalid: (problem: string): Condition => condition('Accepted', 'False', 'Invalid', problem),
  noValidCaCertificate: (problem: string): Condition =>
    condition('Accepted', 'False', 'NoValidCACertificate', problem),

  resolvedRefs: (): Condition =>
    condition('ResolvedRefs', 'True', 'ResolvedRefs', 'All references of the policy are resolved'),
  invalidCaCertificateRef: (problem: string): Condition =>
    condition('ResolvedRefs', 'False', 'InvalidCACertificateRef', problem),
  invalidKind: (problem: string): Condition => condition('ResolvedRefs', 'False', 'InvalidKind', problem),
} as const;
