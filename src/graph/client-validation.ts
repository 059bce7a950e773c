import type { Condition } from '../apis/meta.js';
import type { FrontendTlsConfig, Gateway } from '../apis/gateway/gateway.js';
import { isUnsupported, writtenValue } from '../apis/unsupported-value.js';
import type { ObjectReference } from '../apis/gateway/references.js';
import { listenerConditions } from './conditions/listener.js';
import type { Scope } from './context.js';
import { GATEWAY_GROUP } from '../apis/kinds.js';
import { isPermitted } from './reference-grant.js';

/** How the clients of a listener must identify themselves (GEP-91). */
export interface ClientValidationNode {
  readonly mode: 'require' | 'insecure-fallback';
  /** PEM. */
  readonly caBundle: string;
}

interface ResolvedClientValidation {
  readonly validation?: ClientValidationNode;
  /** The first reference that is bad. */
  readonly resolvedRefs?: Condition;
  /** No reference is good: the listener must not be served, or it would let everyone in. */
  readonly accepted?: Condition;
}

/** The `tls.frontend` entry for a port: that of `perPort` replaces the default, they are not merged. */
function frontendConfigFor(gateway: Gateway, port: number): FrontendTlsConfig | undefined {
  const frontend = gateway.spec.tls?.frontend;
  return frontend?.perPort?.find((entry) => entry.port === port)?.tls ?? frontend?.default;
}

/** Whether the Gateway lets in clients whose certificate is bad or missing on any port. */
export function usesInsecureFallback(gateway: Gateway): boolean {
  const frontend = gateway.spec.tls?.frontend;
  const configs = [frontend?.default, ...(frontend?.perPort ?? []).map((entry) => entry.tls)];
  return configs.some((config) => config?.validation?.mode === 'AllowInsecureFallback');
}

export function resolveClientValidation(
  gateway: Gateway,
  port: number,
  scope: Scope,
): ResolvedClientValidation {
  const validation = frontendConfigFor(gateway, port)?.validation;
  if (!validation) return {};

  const bundles: string[] = [];
  let problem: Condition | undefined;
  for (const ref of validation.caCertificateRefs) {
    const found = resolveCaBundle(ref, gateway, scope);
    if (typeof found === 'string') bundles.push(found);
    else problem ??= found;
  }
  const resolvedRefs = problem && { resolvedRefs: problem };
  if (bundles.length === 0) {
    const message = 'spec.tls.frontend of the Gateway has no usable CA certificate for the port';
    return { ...resolvedRefs, accepted: listenerConditions.noValidCaCertificate(message) };
  }
  if (isUnsupported(validation.mode)) {
    const message = `spec.tls.frontend of the Gateway: mode "${writtenValue(validation.mode)}" is not supported`;
    return { ...resolvedRefs, accepted: listenerConditions.unsupportedValue(message) };
  }
  const mode = validation.mode === 'AllowValidOnly' ? 'require' : 'insecure-fallback';
  return { ...resolvedRefs, validation: { mode, caBundle: bundles.join('\n') } };
}

/** The PEM text, or what is wrong with the reference. */
function resolveCaBundle(ref: ObjectReference, gateway: Gateway, scope: Scope): string | Condition {
  const namespace = ref.namespace ?? gateway.metadata.namespace;
  const key = `${namespace}/${ref.name}`;
  const from = { group: GATEWAY_GROUP, kind: 'Gateway', namespace: gateway.metadata.namespace };
  const to = { group: ref.group, kind: ref.kind, namespace, name: ref.name };
  const field = 'spec.tls.frontend caCertificateRefs';
  if (!isPermitted(from, to, scope.lookup.find('grants', namespace) ?? [])) {
    return listenerConditions.refNotPermitted(
      `${field}: no ReferenceGrant in namespace ${namespace} permits ${ref.kind} ${key}`,
    );
  }
  if (ref.group !== '' || ref.kind !== 'ConfigMap') {
    return listenerConditions.invalidCaCertificateKind(
      `${field}: ${ref.kind} of group "${ref.group}" holds no CA certificates, only a core ConfigMap does`,
    );
  }
  const configMap = scope.lookup.find('configMaps', key);
  if (!configMap)
    return listenerConditions.invalidCaCertificateRef(`${field}: ConfigMap ${key} does not exist`);
  const pem = configMap.data?.['ca.crt'];
  if (pem === undefined) {
    return listenerConditions.invalidCaCertificateRef(`${field}: ConfigMap ${key} has no ca.crt`);
  }
  const check = scope.libraries.checkCaBundle(pem);
  return check.ok
    ? check.pem
    : listenerConditions.invalidCaCertificateRef(`${field}: ConfigMap ${key}: ${check.problem}`);
}
