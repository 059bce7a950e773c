import type { BackendTlsPolicy } from '../apis/gateway/backend-tls-policy.js';
import type { LocalObjectReference } from '../apis/gateway/references.js';
import { isUnsupported, writtenValue } from '../apis/unsupported-value.js';
import type { Condition } from '../apis/meta.js';
import { backendTlsConditions } from './conditions/backend-tls-policy.js';
import { cutMessage } from './conditions/condition.js';
import type { Scope } from './context.js';
import { objectRefOf } from './object-ref.js';
import { createdAtOf, type Aged } from './precedence.js';
import type { ObjectRef } from './status-plan.js';

/** A BackendTLSPolicy on its own, its references followed. */
export interface BackendTlsNode extends Aged {
  readonly ref: ObjectRef;
  readonly generation: number;
  readonly targets: readonly BackendTlsTarget[];
  /** How TLS is made; absent when nothing may be sent to what the policy governs. */
  readonly tls?: BackendTlsSettings;
  /** Before it is compared with other policies. */
  readonly accepted: Condition;
  readonly resolvedRefs: Condition;
}

/** A Service, or the port of it that `sectionName` names. */
export interface BackendTlsTarget {
  /** `namespace/name`. */
  readonly service: string;
  readonly sectionName?: string;
}

export interface BackendTlsSettings {
  /** SNI; and the name of the certificate when there are no `subjectAltNames`. */
  readonly serverName: string;
  /** PEM; absent: the roots of the system. */
  readonly caBundle?: string;
  readonly subjectAltNames: readonly SubjectAltNameSetting[];
}

export interface SubjectAltNameSetting {
  readonly type: 'hostname' | 'uri';
  readonly value: string;
}

export function examineBackendTlsPolicy(policy: BackendTlsPolicy, scope: Scope): BackendTlsNode {
  const { metadata, spec } = policy;
  const trust = resolveTrust(policy, scope);
  const fault = findFault(policy);
  const accepted = fault === undefined ? trust.refused : backendTlsConditions.invalid(fault);
  return {
    id: `${metadata.namespace}/${metadata.name}`,
    createdAt: createdAtOf(policy),
    ref: objectRefOf('BackendTLSPolicy', policy),
    generation: metadata.generation ?? 0,
    targets: targetsOf(policy),
    ...(!accepted && {
      tls: {
        serverName: spec.validation.hostname,
        ...(trust.caBundle !== undefined && { caBundle: trust.caBundle }),
        subjectAltNames: subjectAltNamesOf(policy),
      },
    }),
    accepted: accepted ?? backendTlsConditions.accepted(),
    resolvedRefs: trust.unresolved ?? backendTlsConditions.resolvedRefs(),
  };
}

/** Other kinds are somebody else's: they are no backends here. */
function targetsOf({ metadata, spec }: BackendTlsPolicy): readonly BackendTlsTarget[] {
  return spec.targetRefs.flatMap(({ group, kind, name, sectionName }) =>
    group === '' && kind === 'Service'
      ? [{ service: `${metadata.namespace}/${name}`, ...(sectionName !== undefined && { sectionName }) }]
      : [],
  );
}

/** What this version of the CRD would have refused, and what cannot be honoured. */
function findFault({ spec }: BackendTlsPolicy): string | undefined {
  const {
    caCertificateRefs = [],
    wellKnownCACertificates: wellKnown,
    subjectAltNames = [],
  } = spec.validation;
  if (caCertificateRefs.length > 0 && wellKnown !== undefined)
    return 'spec.validation has both caCertificateRefs and wellKnownCACertificates';
  if (caCertificateRefs.length === 0 && wellKnown === undefined)
    return 'spec.validation has neither caCertificateRefs nor wellKnownCACertificates';
  // An unknown set of roots must not be taken for those of the system.
  if (wellKnown !== undefined && wellKnown !== 'System')
    return `spec.validation.wellKnownCACertificates: "${wellKnown}" is not supported, only "System" is`;
  const nameProblem = findNameFault(subjectAltNames);
  if (nameProblem !== undefined) return nameProblem;
  // An option may ask for more safety than is given without it.
  const [option] = Object.keys(spec.options ?? {}).sort();
  return option === undefined ? undefined : `spec.options: "${option}" is not supported`;
}

function findNameFault(
  names: NonNullable<BackendTlsPolicy['spec']['validation']['subjectAltNames']>,
): string | undefined {
  const newer = names.map(({ type }) => type).find(isUnsupported);
  if (newer !== undefined)
    return `spec.validation.subjectAltNames: type "${writtenValue(newer)}" is not supported`;
  const nameless = names.findIndex(({ type, hostname, uri }) =>
    type === 'Hostname' ? hostname === undefined : uri === undefined,
  );
  return nameless < 0 ? undefined : `spec.validation.subjectAltNames[${nameless}] has no value of its type`;
}

interface Trust {
  readonly caBundle?: string;
  readonly unresolved?: Condition;
  readonly refused?: Condition;
}

/** The CAs of all references that are good; the first bad one gives the reason, and all are told about. */
function resolveTrust({ metadata, spec }: BackendTlsPolicy, scope: Scope): Trust {
  const { caCertificateRefs = [] } = spec.validation;
  if (caCertificateRefs.length === 0) return {};
  const results = caCertificateRefs.map((ref, index) =>
    resolveCaBundle(ref, { namespace: metadata.namespace, index }, scope),
  );
  const bundles = results.flatMap((result) => (typeof result === 'string' ? [result] : []));
  const problems = results.flatMap((result) => (typeof result === 'string' ? [] : [result]));
  const message = cutMessage(problems.map((problem) => problem.message).join('; '));
  const [first] = problems;
  return {
    ...(bundles.length > 0 && { caBundle: bundles.join('\n') }),
    ...(first && { unresolved: { ...first, message } }),
    ...(bundles.length === 0 && { refused: backendTlsConditions.noValidCaCertificate(message) }),
  };
}

/** The PEM text, or what is wrong with the reference. */
function resolveCaBundle(
  { group, kind, name }: LocalObjectReference,
  { namespace, index }: { readonly namespace: string; readonly index: number },
  { lookup, libraries }: Scope,
): string | Condition {
  const field = `spec.validation.caCertificateRefs[${index}]`;
  if (group !== '' || kind !== 'ConfigMap') {
    return backendTlsConditions.invalidKind(
      `${field}: ${kind} of group "${group}" holds no CA certificates, only a core ConfigMap does`,
    );
  }
  const where = `${field}: ConfigMap ${namespace}/${name}`;
  const configMap = lookup.find('configMaps', `${namespace}/${name}`);
  if (!configMap) return backendTlsConditions.invalidCaCertificateRef(`${where} does not exist`);
  const pem = configMap.data?.['ca.crt'];
  if (pem === undefined) return backendTlsConditions.invalidCaCertificateRef(`${where} has no ca.crt`);
  const check = libraries.checkCaBundle(pem);
  return check.ok ? check.pem : backendTlsConditions.invalidCaCertificateRef(`${where}: ${check.problem}`);
}

function subjectAltNamesOf({ spec }: BackendTlsPolicy): readonly SubjectAltNameSetting[] {
  return (spec.validation.subjectAltNames ?? []).flatMap(
    ({ type, hostname, uri }): readonly SubjectAltNameSetting[] => {
      if (type === 'Hostname') return hostname === undefined ? [] : [{ type: 'hostname', value: hostname }];
      return uri === undefined ? [] : [{ type: 'uri', value: uri }];
    },
  );
}
