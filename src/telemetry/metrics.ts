import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';

import { METRICS, type MetricDescription } from './metrics-catalog.js';

type Labels = Readonly<Record<string, string>>;
type MetricName = keyof typeof METRICS;

/** What counts something. Names are keys of the catalog, so nothing unlisted can be published. */
export interface Metrics {
  increment(metric: MetricName, labels?: Labels, amount?: number): void;
  set(metric: MetricName, value: number, labels?: Labels): void;
  observe(metric: MetricName, value: number, labels?: Labels): void;
}

/** The process's registry; values of the data plane are added by `registerTraffic`. */
export class PrometheusMetrics implements Metrics {
  readonly registry = new Registry();
  readonly #counters = new Map<MetricName, Counter>();
  readonly #gauges = new Map<MetricName, Gauge>();
  readonly #histograms = new Map<MetricName, Histogram>();

  constructor() {
    collectDefaultMetrics({ register: this.registry });
  }

  increment(metric: MetricName, labels: Labels = {}, amount = 1): void {
    this.#get(this.#counters, metric, (options) => new Counter(options)).inc({ ...labels }, amount);
  }

  set(metric: MetricName, value: number, labels: Labels = {}): void {
    this.#get(this.#gauges, metric, (options) => new Gauge(options)).set({ ...labels }, value);
  }

  observe(metric: MetricName, value: number, labels: Labels = {}): void {
    this.#get(this.#histograms, metric, (options) => new Histogram(options)).observe({ ...labels }, value);
  }

  /** The text exposition format. */
  text(): Promise<string> {
    return this.registry.metrics();
  }

  #get<T>(made: Map<MetricName, T>, metric: MetricName, make: (options: MetricOptions) => T): T {
    const known = made.get(metric);
    if (known !== undefined) return known;
    const created = make(metricOptions(METRICS[metric], this.registry));
    made.set(metric, created);
    return created;
  }
}

interface MetricOptions {
  name: string;
  help: string;
  labelNames: string[];
  registers: Registry[];
  buckets?: number[];
}

export function metricOptions(description: MetricDescription, registry: Registry): MetricOptions {
  const { name, help, labels, buckets } = description;
  return {
    name,
    help,
    labelNames: [...labels],
    registers: [registry],
    ...(buckets && { buckets: [...buckets] }),
  };
}
