import type { ServiceIdentifier } from 'inversify';

import type { Aggregator } from './aggregation/aggregator.js';
import type { Kind } from './apis/kinds.js';
import type { ObjectsByKind } from './apis/objects.js';
import type { ProxyEngine } from './ir/proxy-engine.js';
import type { LeaderElection } from './kube/leadership.js';
import type { ResourceSource } from './kube/resource-source.js';
import type { EventSink } from './status/event-sink.js';
import type { StatusSink } from './status/status-sink.js';
import type { StatusStore } from './status/status-store.js';
import type { Logger } from './telemetry/logger.js';
import type { PrometheusMetrics } from './telemetry/metrics.js';
import type { TrafficSource } from './telemetry/traffic-metrics.js';
import type { Clock } from './util/clock.js';

type SourceTokens = { readonly [K in Kind]: ServiceIdentifier<ResourceSource<ObjectsByKind[K]>> };

const sources: SourceTokens = {
  GatewayClass: sourceOf('GatewayClass'),
  Gateway: sourceOf('Gateway'),
  ListenerSet: sourceOf('ListenerSet'),
  HTTPRoute: sourceOf('HTTPRoute'),
  GRPCRoute: sourceOf('GRPCRoute'),
  TLSRoute: sourceOf('TLSRoute'),
  TCPRoute: sourceOf('TCPRoute'),
  UDPRoute: sourceOf('UDPRoute'),
  ReferenceGrant: sourceOf('ReferenceGrant'),
  BackendTLSPolicy: sourceOf('BackendTLSPolicy'),
  XBackendTrafficPolicy: sourceOf('XBackendTrafficPolicy'),
  TricksterCachePolicy: sourceOf('TricksterCachePolicy'),
  AddressPool: sourceOf('AddressPool'),
  Service: sourceOf('Service'),
  EndpointSlice: sourceOf('EndpointSlice'),
  Secret: sourceOf('Secret'),
  ConfigMap: sourceOf('ConfigMap'),
  Namespace: sourceOf('Namespace'),
};

/** What the container knows, each with the type of what it gives. */
export const TOKENS = {
  Clock: token<Clock>('Clock'),
  Logger: token<Logger>('Logger'),
  Metrics: token<PrometheusMetrics>('Metrics'),
  Engine: token<ProxyEngine & TrafficSource>('Engine'),
  Aggregator: token<Aggregator>('Aggregator'),
  /** Who decides which replica writes. */
  LeaderElection: token<LeaderElection>('LeaderElection'),
  StatusSink: token<StatusSink>('StatusSink'),
  EventSink: token<EventSink>('EventSink'),
  /** What this process would write, for the management port. */
  StatusStore: token<StatusStore>('StatusStore'),
  /** `GatewayClass.spec.controllerName` of this controller. */
  ControllerName: token<string>('ControllerName'),
  /** The reconcilers of all kinds, to be injected as many. */
  Reconciler: token<ResourceSource>('Reconciler'),
  /** Where the objects of a kind come from, before anything is filtered: the API server or files. */
  sources,
} as const;

function token<T>(name: string): ServiceIdentifier<T> {
  return Symbol(name);
}

function sourceOf<K extends Kind>(kind: K): ServiceIdentifier<ResourceSource<ObjectsByKind[K]>> {
  return token(`${kind}Source`);
}
