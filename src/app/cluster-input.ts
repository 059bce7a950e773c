import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';

import type { Container } from 'inversify';
import { map } from 'rxjs';

import type { Kind } from '../apis/kinds.js';
import { decodeObject } from '../kube/decode-object.js';
import { Discovery } from '../kube/discovery.js';
import { EventRecorder } from '../kube/event-recorder.js';
import { HttpKubeClient } from '../kube/http-kube-client.js';
import { KubeAuthentication } from '../kube/kube-authentication.js';
import { loadKubeConfig, ownNamespace } from '../kube/kube-config.js';
import type { KubeMetrics } from '../kube/kube-metrics.js';
import { KubeSources, type NamespaceScope } from '../kube/kube-sources.js';
import { LeaderElector } from '../kube/leader-elector.js';
import { type LeaderElection, neverLeading, withoutElection } from '../kube/leadership.js';
import { apiVersionOf } from '../kube/resource-path.js';
import { StatusCache } from '../kube/status-cache.js';
import { InfrastructureWriter } from '../status/infrastructure-writer.js';
import { KubeEventSink } from '../status/kube-event-sink.js';
import type { StatusMetrics } from '../status/status-metrics.js';
import { combineStatusSinks } from '../status/status-sink.js';
import type { StatusStore } from '../status/status-store.js';
import { StatusWriter } from '../status/status-writer.js';
import type { Logger } from '../telemetry/logger.js';
import type { Metrics } from '../telemetry/metrics.js';
import { TOKENS } from '../tokens.js';
import type { Clock } from '../util/clock.js';
import { bindSources } from './bind-sources.js';
import type { ConnectedInput } from './input.js';
import type { RawOptions } from './options/schema.js';
import { durationOf, type Input } from './run-options.js';

export interface ClusterInputOptions {
  readonly input: Extract<Input, { type: 'cluster' }>;
  readonly raw: RawOptions;
  readonly version: string;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

/** The cluster mode. Throws ERR_ENVIRONMENT when there is no configuration for a connection. */
export function clusterInput(options: ClusterInputOptions): ConnectedInput {
  const { raw, clock, logger, metrics } = options;
  const { kubernetes } = raw;
  const load = () => loadKubeConfig(options.input);
  const client = new HttpKubeClient(
    new KubeAuthentication(load, clock),
    `trickster-gateway/${options.version}`,
  );
  const discovery = new Discovery({ client, logger: logger.child({ component: 'discovery' }) });
  const statuses = new StatusCache(kubernetes.gateway_class_controller_name);
  const published = kubernetes.published_service;
  const sources = new KubeSources({
    client,
    discovery,
    decode: decodeObject,
    scope: scopeOf(raw),
    statuses,
    metrics: kubeMetrics(metrics),
    logger: logger.child({ component: 'reflector' }),
    ...(published && { publishedServices: [`${published.namespace}/${published.name}`] }),
    resyncMs: durationOf(kubernetes.resync_interval),
  });
  const writers = createWriters(options, {
    client,
    discovery,
    statuses,
  });
  return {
    bind: (container: Container) => {
      bindSources(container, (kind) => sources.source(kind));
      container.bind(TOKENS.LeaderElection).toConstantValue(writers.election);
      container.bind(TOKENS.EventSink).toConstantValue(writers.events);
      container
        .bind(TOKENS.StatusSink)
        .toResolvedValue(
          (store: StatusStore) => combineStatusSinks(store, writers.status),
          [TOKENS.StatusStore],
        )
        .inSingletonScope();
    },
    settleMs: durationOf(kubernetes.debounce_window),
    installedKinds$: discovery.served$.pipe(map((served): ReadonlySet<Kind> => new Set(served.keys()))),
    problems$: sources.faults$.pipe(
      map((faults) => faults.map(({ kind, key, problem }) => `${kind} ${key}: ${problem}`)),
    ),
    requestSecrets: (keys) => {
      sources.requestNamedSecrets(keys);
    },
    publishInfrastructure: (plan) => {
      writers.infrastructure.publish(plan);
    },
    start: () => {
      writers.start();
    },
    stop: async () => {
      await writers.stop();
      await client.close();
    },
  };
}

interface ClusterAccess {
  readonly client: HttpKubeClient;
  readonly discovery: Discovery;
  readonly statuses: StatusCache;
}

/** What writes: while it leads, and nothing before. */
function createWriters(options: ClusterInputOptions, access: ClusterAccess) {
  const { input, raw, clock, logger, metrics } = options;
  const { client, discovery, statuses } = access;
  const identity = `${hostname()}_${randomUUID()}`;
  const election = electionOf(options, client, { identity, namespace: ownNamespace(loadKubeConfig(input)) });
  const { leadership$ } = election;
  const writer = new StatusWriter({
    client,
    findKind: (kind) => discovery.find(kind),
    statuses,
    leadership$,
    controllerName: raw.kubernetes.gateway_class_controller_name,
    clock,
    logger: logger.child({ component: 'status' }),
    metrics: statusMetrics(metrics),
  });
  const eventLogger = logger.child({ component: 'events' });
  const recorder = new EventRecorder({ client, identity, clock, logger: eventLogger });
  const events = new KubeEventSink({
    recorder,
    leadership$,
    apiVersionOf: (kind) => apiVersionOfKind(discovery, kind),
    logger: eventLogger,
  });
  const infrastructure = new InfrastructureWriter({
    client,
    leadership$,
    gatewayApiVersion: () => apiVersionOfKind(discovery, 'Gateway'),
    clock,
    logger: logger.child({ component: 'infrastructure' }),
  });
  return {
    election,
    events,
    infrastructure,
    status: writer,
    start: () => {
      infrastructure.start();
      writer.start();
      events.start();
      election.start();
    },
    stop: async () => {
      infrastructure.stop();
      events.stop();
      recorder.stop();
      await writer.stop();
      await election.stop();
    },
  };
}

function scopeOf({ kubernetes }: RawOptions): NamespaceScope {
  if (kubernetes.watch_namespaces) return { mode: 'names', names: kubernetes.watch_namespaces };
  if (!kubernetes.namespace_selector) return { mode: 'all' };
  const selector = Object.entries(kubernetes.namespace_selector)
    .map(([label, value]) => `${label}=${value}`)
    .join(',');
  return { mode: 'selector', selector };
}

function electionOf(
  { raw, clock, logger }: ClusterInputOptions,
  client: HttpKubeClient,
  own: { readonly identity: string; readonly namespace: string },
): LeaderElection {
  const { read_only: readOnly, leader_election: settings } = raw.kubernetes;
  if (readOnly) return neverLeading();
  if (!settings.enabled) return withoutElection();
  return new LeaderElector({
    client,
    namespace: settings.namespace ?? own.namespace,
    name: settings.name,
    identity: own.identity,
    clock,
    logger: logger.child({ component: 'leader-election' }),
    times: {
      leaseDurationMs: durationOf(settings.lease_duration),
      renewDeadlineMs: durationOf(settings.renew_deadline),
      retryPeriodMs: durationOf(settings.retry_period),
    },
  });
}

function apiVersionOfKind(discovery: Discovery, kind: Kind): string {
  const served = discovery.find(kind);
  return served ? apiVersionOf(served) : '';
}

function kubeMetrics(metrics: Metrics): KubeMetrics {
  return {
    watchEvent: (kind, event) => {
      metrics.increment('watchEvents', { kind, event });
    },
    relist: (kind, reason) => {
      metrics.increment('relists', { kind, reason });
    },
    watchError: (kind, reason) => {
      metrics.increment('watchErrors', { kind, reason });
    },
  };
}

function statusMetrics(metrics: Metrics): StatusMetrics {
  return {
    written: (kind) => {
      metrics.increment('statusWrites', { kind });
    },
    failed: (kind) => {
      metrics.increment('statusWriteFailures', { kind });
    },
  };
}
