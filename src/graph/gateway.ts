import type { Gateway, GatewayAddress } from '../apis/gateway/gateway.js';
import { GATEWAY_GROUP } from '../apis/kinds.js';
import type { LabelSelector } from '../apis/label-selector.js';
import type { Condition } from '../apis/meta.js';
import { resolveCertificates, type CertificateNode } from './certificate.js';
import type { ClassParameters } from './class-parameters.js';
import { usesInsecureFallback } from './client-validation.js';
import { gatewayConditions } from './conditions/gateway.js';
import type { Scope } from './context.js';
import type { ClassNode } from './gateway-class.js';
import { examineListener, type ListenerNode, type ListenerOwner } from './listener.js';
import { objectRefOf } from './object-ref.js';
import { createdAtOf, type Aged } from './precedence.js';
import type { ObjectRef } from './status-plan.js';

/** A Gateway of one of our classes on its own. Does not hold the object, which changes with our own status writes. */
export interface GatewayNode extends Aged {
  readonly ref: ObjectRef;
  readonly generation: number;
  readonly className: string;
  readonly parameters: ClassParameters;
  readonly listeners: readonly ListenerNode[];
  readonly requestedAddresses: readonly GatewayAddress[];
  readonly allowedListeners: { readonly from: string; readonly selector?: LabelSelector };
  /** Why nothing of it can be served, whatever its listeners are. */
  readonly refused?: Condition;
  /** References outside of listeners. */
  readonly unresolved?: Condition;
  readonly clientCertificate?: CertificateNode;
  readonly insecureFallback: boolean;
  readonly infrastructure: Infrastructure;
}

/** What everything made for the Gateway is labelled with. */
interface Infrastructure {
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

/** The scope of what belongs to one Gateway. */
export interface GatewayScope extends Scope {
  readonly gateway: Gateway;
  readonly parameters: ClassParameters;
}

/** Undefined when the Gateway's class is not ours. */
export function examineGateway(gateway: Gateway, scope: Scope): GatewayNode | undefined {
  const { metadata, spec } = gateway;
  const gatewayClass = scope.lookup.find('classes', spec.gatewayClassName);
  if (!gatewayClass) return undefined;

  const parameters = gatewayClass.parameters ?? scope.settings.defaults;
  const inner: GatewayScope = { ...scope, gateway, parameters };
  const owner: ListenerOwner = {
    kind: 'Gateway',
    namespace: metadata.namespace,
    name: metadata.name,
    createdAt: createdAtOf(gateway),
  };
  const refused = refuseClass(gatewayClass) ?? refuse(gateway);
  return {
    id: `${metadata.namespace}/${metadata.name}`,
    createdAt: owner.createdAt,
    ref: objectRefOf('Gateway', gateway),
    generation: metadata.generation ?? 0,
    className: gatewayClass.name,
    parameters,
    listeners: spec.listeners.map((listener) => examineListener(listener, owner, inner)),
    requestedAddresses: spec.addresses ?? [],
    allowedListeners: spec.allowedListeners?.namespaces ?? { from: 'None' },
    ...(refused && { refused }),
    ...resolveClientCertificate(gateway, scope),
    insecureFallback: usesInsecureFallback(gateway),
    infrastructure: infrastructureOf(gateway),
  };
}

function infrastructureOf({ spec }: Gateway): Infrastructure {
  const { labels = {}, annotations = {} } = spec.infrastructure ?? {};
  return { labels, annotations };
}

function refuseClass({ name, parameters }: ClassNode): Condition | undefined {
  return parameters
    ? undefined
    : gatewayConditions.invalidParameters(`GatewayClass ${name} has invalid parameters`);
}

function refuse({ spec }: Gateway): Condition | undefined {
  const ref = spec.infrastructure?.parametersRef;
  if (ref) {
    return gatewayConditions.invalidParameters(
      `spec.infrastructure.parametersRef: ${ref.kind} of group "${ref.group}" is not supported`,
    );
  }
  const strange = spec.addresses?.find(({ type }) => type !== 'IPAddress' && type !== 'Hostname');
  return strange && gatewayConditions.unsupportedAddress(strange.type);
}

/** The certificate that backends with TLS are shown: `spec.tls.backend.clientCertificateRef` (GEP-3155). */
function resolveClientCertificate(
  gateway: Gateway,
  scope: Scope,
): Pick<GatewayNode, 'clientCertificate' | 'unresolved'> {
  const ref = gateway.spec.tls?.backend?.clientCertificateRef;
  if (!ref) return {};

  const from = {
    group: GATEWAY_GROUP,
    kind: 'Gateway',
    namespace: gateway.metadata.namespace,
    field: 'spec.tls.backend.clientCertificateRef',
  };
  const { certificates, problem } = resolveCertificates([ref], from, scope);
  const [clientCertificate] = certificates;
  const found = clientCertificate && { clientCertificate };
  if (!problem) return { ...found };
  const unresolved =
    problem.reason === 'RefNotPermitted'
      ? gatewayConditions.clientCertificateNotPermitted(problem.message)
      : gatewayConditions.invalidClientCertificateRef(problem.message);
  return { ...found, unresolved };
}
