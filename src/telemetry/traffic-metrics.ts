import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

import { METRICS, type MetricDescription } from './metrics-catalog.js';
import { metricOptions } from './metrics.js';
import {
  CACHE_STATUSES,
  DURATION_BUCKETS,
  type ListenerCounts,
  type TrafficCounters,
} from './traffic-counters.js';

/** Where the numbers are: every worker's block (those of dead workers included) and who owns which row. */
export interface TrafficSource {
  blocks(): readonly TrafficCounters[];
  /** Listener key → row. */
  rows(): ReadonlyMap<string, number>;
}

/** Publishes the workers' counters; they are read when metrics are scraped and never copied before. */
export function registerTraffic(registry: Registry, source: TrafficSource): void {
  const listeners = (): [string, ListenerCounts[]][] =>
    [...source.rows()].map(([listener, row]) => [
      listener,
      source.blocks().map((block) => block.readListener(row)),
    ]);
  const perListener = (description: MetricDescription, read: (counts: ListenerCounts) => number): void => {
    level(registry, description, () =>
      listeners().map(([listener, counts]) => ({ labels: { listener }, value: total(counts.map(read)) })),
    );
  };

  level(registry, METRICS.frontendRequests, () => listeners().flatMap(responseSeries));
  perListener(METRICS.frontendWrittenBytes, ({ bytesSent }) => bytesSent);
  perListener(METRICS.frontendReadBytes, ({ bytesReceived }) => bytesReceived);
  perListener(METRICS.acceptedConnections, ({ connectionsAccepted }) => connectionsAccepted);
  perListener(METRICS.activeConnections, ({ connectionsActive }) => connectionsActive);
  perListener(METRICS.refusedConnections, ({ connectionsRefused }) => connectionsRefused);
  perListener(METRICS.failedHandshakes, ({ handshakesFailed }) => handshakesFailed);

  registerWorkers(registry, source);
  registerDurations(registry, listeners);
}

function registerWorkers(registry: Registry, source: TrafficSource): void {
  const workers = (read: (block: TrafficCounters) => number): number => total(source.blocks().map(read));
  const one = (value: number, labels: Record<string, string> = {}): Series => ({ labels, value });
  level(registry, METRICS.upstreamConnections, () => [
    one(
      workers((block) => block.read('upstreamConnectionsOpened')),
      { result: 'opened' },
    ),
    one(
      workers((block) => block.read('upstreamConnectionsFailed')),
      { result: 'failed' },
    ),
  ]);
  level(registry, METRICS.upstreamActive, () => [
    one(workers((block) => block.read('upstreamConnectionsActive'))),
  ]);
  level(registry, METRICS.upstreamRetries, () => [one(workers((block) => block.read('upstreamRetries')))]);
  level(registry, METRICS.mirrorRequests, () => [
    one(
      workers((block) => block.read('mirrorsSent')),
      { result: 'sent' },
    ),
    one(
      workers((block) => block.read('mirrorsDropped')),
      { result: 'dropped' },
    ),
  ]);
  level(registry, METRICS.proxyRequests, () =>
    CACHE_STATUSES.map((status) =>
      one(
        workers((block) => block.readCacheResult(status)),
        { cache_status: status },
      ),
    ),
  );
  level(registry, METRICS.cacheUsageObjects, () => [one(workers((block) => block.read('cacheObjects')))]);
  level(registry, METRICS.workerHeapUsed, () => [one(workers((block) => block.read('heapUsedBytes')))]);
  level(registry, METRICS.workerHeap, () => [one(workers((block) => block.read('heapBytes')))]);
  level(registry, METRICS.cacheUsageBytes, () => [one(workers((block) => block.read('cacheBytes')))]);
  level(registry, METRICS.cacheEvictions, () => [
    one(
      workers((block) => block.read('cacheEvictions')),
      { event: 'eviction' },
    ),
  ]);
}

interface Series {
  readonly labels: Record<string, string>;
  readonly value: number;
}

/** A counter or gauge whose values are asked for at each scrape. */
function level(registry: Registry, description: MetricDescription, read: () => readonly Series[]): void {
  const options = metricOptions(description, registry);
  if (description.type === 'counter') {
    const counter: Counter = new Counter({
      ...options,
      collect: () => {
        counter.reset();
        for (const { labels, value } of read()) counter.inc(labels, value);
      },
    });
    return;
  }
  const gauge: Gauge = new Gauge({
    ...options,
    collect: () => {
      gauge.reset();
      for (const { labels, value } of read()) gauge.set(labels, value);
    },
  });
}

function responseSeries([listener, counts]: [string, ListenerCounts[]]): Series[] {
  return [1, 2, 3, 4, 5].map((statusClass) => ({
    labels: { listener, http_status: `${String(statusClass)}xx` },
    value: total(counts.map(({ responses }) => responses[statusClass - 1] ?? 0)),
  }));
}

/** A histogram whose buckets were filled elsewhere. */
class CountedHistogram extends Histogram {
  readonly #series: () => readonly NamedSeries[];

  constructor(registry: Registry, series: () => readonly NamedSeries[]) {
    super(metricOptions(METRICS.frontendDuration, registry));
    this.#series = series;
  }

  /** What the registry asks for; prom-client's own type declaration leaves it out. */
  getForPromString(): Promise<object> {
    const { name, help, type } = METRICS.frontendDuration;
    return Promise.resolve({ name, help, type, values: this.#series(), aggregator: 'sum' });
  }
}

interface NamedSeries extends Series {
  readonly metricName: string;
}

function registerDurations(registry: Registry, listeners: () => readonly [string, ListenerCounts[]][]): void {
  new CountedHistogram(registry, () => listeners().flatMap(durationSeries));
}

function durationSeries([listener, counts]: [string, ListenerCounts[]]): NamedSeries[] {
  const { name } = METRICS.frontendDuration;
  const bounds = [...DURATION_BUCKETS.map(String), '+Inf'];
  let cumulative = 0;
  const buckets = bounds.map((le, index) => {
    cumulative += total(counts.map(({ durationBuckets }) => durationBuckets[index] ?? 0));
    return { metricName: `${name}_bucket`, labels: { listener, le }, value: cumulative };
  });
  return [
    ...buckets,
    { metricName: `${name}_sum`, labels: { listener }, value: total(counts.map((c) => c.durationSum)) },
    { metricName: `${name}_count`, labels: { listener }, value: cumulative },
  ];
}

function total(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}
