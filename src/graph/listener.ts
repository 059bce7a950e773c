import type { Gateway } from '../apis/gateway/gateway.js';
import type { Listener } from '../apis/gateway/listener.js';
import { GATEWAY_GROUP } from '../apis/kinds.js';
import type { LabelSelector } from '../apis/label-selector.js';
import type { Condition } from '../apis/meta.js';
import { isUnsupported, writtenValue } from '../apis/unsupported-value.js';
import { resolveCertificates, type CertificateNode } from './certificate.js';
import { resolveClientValidation, type ClientValidationNode } from './client-validation.js';
import { listenerConditions } from './conditions/listener.js';
import { normalizeHostname } from './hostname.js';
import type { GatewayScope } from './gateway.js';

export type RouteKind = 'HTTPRoute' | 'GRPCRoute' | 'TLSRoute' | 'TCPRoute' | 'UDPRoute';

/** What is spoken on a port: listeners share a port only within one of these. */
export type PortProtocol = 'http' | 'tls' | 'tcp' | 'udp';

export interface ListenerOwner {
  readonly kind: 'Gateway' | 'ListenerSet';
  readonly namespace: string;
  readonly name: string;
  readonly createdAt: number;
}

/** One listener of a Gateway or ListenerSet on its own, before it is compared with others. */
export interface ListenerNode {
  /** `Gateway/namespace/name/listener`. */
  readonly key: string;
  readonly name: string;
  readonly owner: ListenerOwner;
  /** `namespace/name` of the Gateway that serves it. */
  readonly gateway: string;
  readonly port: number;
  /** Normalised; `''` where the protocol knows no hostnames. */
  readonly hostname: string;
  /** Absent when the protocol is not served at all. */
  readonly protocol?: PortProtocol;
  /** What it would be on its port, when the protocol is known but not served. */
  readonly unserved?: PortProtocol;
  readonly supportedKinds: readonly RouteKind[];
  readonly namespaces: { readonly from: string; readonly selector?: LabelSelector };
  readonly tls?: ListenerTls;
  /** Why it is not Accepted. */
  readonly notAccepted?: Condition;
  /** Why ResolvedRefs is False; whether it is served nevertheless says `servable`. */
  readonly unresolved?: Condition;
  /** Whether it can be served when no other listener is in its way. */
  readonly servable: boolean;
}

export interface ListenerTls {
  readonly mode: 'terminate' | 'passthrough';
  /** What the protocol is after TLS: HTTPS listeners carry HTTP, TLS listeners bytes. */
  readonly carries: 'http' | 'stream';
  readonly certificates: readonly CertificateNode[];
  readonly clientValidation?: ClientValidationNode;
}

const KINDS_BY_PROTOCOL: Readonly<Record<string, readonly RouteKind[]>> = {
  HTTP: ['GRPCRoute', 'HTTPRoute'],
  HTTPS: ['GRPCRoute', 'HTTPRoute'],
  TLS: ['TLSRoute'],
  TCP: ['TCPRoute'],
  UDP: ['UDPRoute'],
};

const PORT_PROTOCOLS: Readonly<Record<string, PortProtocol>> = {
  HTTP: 'http',
  HTTPS: 'tls',
  TLS: 'tls',
  TCP: 'tcp',
  UDP: 'udp',
};

/** Examines a listener of `gateway`, or of a ListenerSet attached to it. */
export function examineListener(listener: Listener, owner: ListenerOwner, scope: GatewayScope): ListenerNode {
  const base = describe(listener, owner, scope.gateway);
  const protocol = servedProtocol(listener.protocol, scope);
  if (protocol === undefined) {
    const unserved = PORT_PROTOCOLS[listener.protocol];
    return {
      ...base,
      ...(unserved && { unserved }),
      supportedKinds: [],
      notAccepted: listenerConditions.unsupportedProtocol(listener.protocol),
      servable: false,
    };
  }
  const kinds = supportedKinds(listener);
  const named = { ...base, protocol, supportedKinds: kinds.supported };
  const refusal = refuse(listener, scope);
  if (refusal) return { ...named, ...unresolved(kinds.problem), notAccepted: refusal, servable: false };
  if (protocol !== 'tls') {
    return { ...named, ...unresolved(kinds.problem), servable: kinds.supported.length > 0 };
  }
  const tls = examineTls(listener, owner, scope);
  return {
    ...named,
    tls: tls.tls,
    ...unresolved(kinds.problem ?? tls.unresolved),
    ...(tls.notAccepted && { notAccepted: tls.notAccepted }),
    servable: kinds.supported.length > 0 && tls.servable,
  };
}

function unresolved(condition: Condition | undefined): { readonly unresolved?: Condition } {
  return condition ? { unresolved: condition } : {};
}

function describe(listener: Listener, owner: ListenerOwner, gateway: Gateway) {
  const { namespace, name } = gateway.metadata;
  const { from, selector } = listener.allowedRoutes.namespaces;
  const hasHostname = listener.protocol !== 'TCP' && listener.protocol !== 'UDP';
  return {
    key: `${owner.kind}/${owner.namespace}/${owner.name}/${listener.name}`,
    name: listener.name,
    owner,
    gateway: `${namespace}/${name}`,
    port: listener.port,
    hostname: hasHostname ? normalizeHostname(listener.hostname) : '',
    namespaces: selector ? { from, selector } : { from },
  };
}

function servedProtocol(protocol: string, { settings }: GatewayScope): PortProtocol | undefined {
  const needsStream = protocol === 'TLS' || protocol === 'TCP' || protocol === 'UDP';
  return needsStream && !settings.capabilities.stream ? undefined : PORT_PROTOCOLS[protocol];
}

/** ListenerStatus.supportedKinds: the kinds the protocol carries, as far as `allowedRoutes.kinds` names them. */
function supportedKinds(listener: Listener): { supported: readonly RouteKind[]; problem?: Condition } {
  const possible = KINDS_BY_PROTOCOL[listener.protocol] ?? [];
  const wanted = listener.allowedRoutes.kinds ?? [];
  if (wanted.length === 0) return { supported: possible };

  const supported = possible.filter((kind) =>
    wanted.some((one) => one.group === GATEWAY_GROUP && one.kind === kind),
  );
  const impossible = wanted.filter(
    (one) => one.group !== GATEWAY_GROUP || !possible.some((kind) => kind === one.kind),
  );
  if (impossible.length === 0) return { supported };
  const names = impossible.map(({ group, kind }) => (group === GATEWAY_GROUP ? kind : `${kind}.${group}`));
  return {
    supported,
    problem: listenerConditions.invalidRouteKinds(
      `allowedRoutes.kinds: protocol ${listener.protocol} does not carry ${names.join(', ')}`,
    ),
  };
}

/** What makes a listener unacceptable whatever it refers to. */
function refuse(listener: Listener, scope: GatewayScope): Condition | undefined {
  const { protocol, port, tls } = listener;
  if (isReserved(port, scope)) return listenerConditions.portUnavailable(port);
  const usesTls = protocol === 'HTTPS' || protocol === 'TLS';
  if (!usesTls) {
    return tls && listenerConditions.unsupportedValue(`tls must not be set with protocol ${protocol}`);
  }
  if (!tls) return listenerConditions.unsupportedValue(`tls is required with protocol ${protocol}`);
  if (isUnsupported(tls.mode)) {
    return listenerConditions.unsupportedValue(`tls.mode "${writtenValue(tls.mode)}" is not supported`);
  }
  if (protocol === 'HTTPS' && tls.mode !== 'Terminate') {
    return listenerConditions.unsupportedValue(`tls.mode ${tls.mode} is not possible with protocol HTTPS`);
  }
  // Options usually tighten TLS: a listener served without them would be weaker than asked for.
  const options = Object.keys(tls.options ?? {}).sort();
  return options.length > 0
    ? listenerConditions.unsupportedValue(`tls.options ${options.join(', ')} are not supported`)
    : undefined;
}

const EVERYWHERE: ReadonlySet<string | undefined> = new Set([undefined, '0.0.0.0', '::']);

/** Whether the operator itself listens on the port where the Gateway would have to. */
function isReserved(port: number, { settings, parameters }: GatewayScope): boolean {
  // A pool's addresses are bound one by one, so only who listens on all addresses is in the way.
  return settings.reservedPorts.some(
    (reserved) =>
      reserved.port === port && (parameters.addressing === 'shared' || EVERYWHERE.has(reserved.address)),
  );
}

interface ExaminedTls {
  readonly tls: ListenerTls;
  readonly unresolved?: Condition;
  readonly notAccepted?: Condition;
  readonly servable: boolean;
}

function examineTls(listener: Listener, owner: ListenerOwner, scope: GatewayScope): ExaminedTls {
  const carries = listener.protocol === 'HTTPS' ? 'http' : 'stream';
  if (listener.tls?.mode === 'Passthrough') {
    return { tls: { mode: 'passthrough', carries, certificates: [] }, servable: true };
  }
  const resolved = resolveListenerCertificates(listener, owner, scope);
  const clients = carries === 'http' ? resolveClientValidation(scope.gateway, listener.port, scope) : {};
  const { certificates } = resolved;
  const tls: ListenerTls = clients.validation
    ? { mode: 'terminate', carries, certificates, clientValidation: clients.validation }
    : { mode: 'terminate', carries, certificates };
  return {
    tls,
    ...unresolved(resolved.problem ?? clients.resolvedRefs),
    ...(clients.accepted && { notAccepted: clients.accepted }),
    servable: certificates.length > 0 && clients.accepted === undefined,
  };
}

function resolveListenerCertificates(
  listener: Listener,
  owner: ListenerOwner,
  scope: GatewayScope,
): { certificates: readonly CertificateNode[]; problem?: Condition } {
  const refs = listener.tls?.certificateRefs ?? [];
  if (refs.length === 0) {
    const problem = listenerConditions.invalidCertificateRef('tls.certificateRefs names no certificate');
    return { certificates: [], problem };
  }
  const from = {
    group: GATEWAY_GROUP,
    kind: owner.kind,
    namespace: owner.namespace,
    field: 'tls.certificateRefs',
  };
  const { certificates, problem } = resolveCertificates(refs, from, scope);
  if (!problem) return { certificates };
  return {
    certificates,
    problem:
      problem.reason === 'RefNotPermitted'
        ? listenerConditions.refNotPermitted(problem.message)
        : listenerConditions.invalidCertificateRef(problem.message),
  };
}
