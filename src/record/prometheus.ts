import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from "prom-client";
import { type Meter, type MetricDefinition, METRICS } from "../system/mod.ts";

/** Prefix of the names of our metrics (decisions.md); those of the process carry none, as usual. */
export const METRIC_PREFIX = "service_";

/** A meter whose measurements can be read. */
export interface Prometheus extends Meter {
  /** Media type of {@link Prometheus.text}. */
  readonly contentType: string;
  /** Everything measured so far, in the text format of Prometheus. */
  text(): Promise<string>;
}

/**
 * Neither runtime fills these of the library's process metrics with something true (the lag's
 * minimum is centuries, means are no numbers), so they are not shown.
 */
const UNTRUE = /^nodejs_(?!version_info|heap_size|external_memory)/;

/** Makes a meter for Prometheus, with the process's own metrics beside ours. */
export function createPrometheus(): Prometheus {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  for (const { name } of registry.getMetricsAsArray()) {
    if (UNTRUE.test(name)) registry.removeSingleMetric(name);
  }
  const metrics = new Map(
    Object.entries(METRICS).map(([name, metric]) => [name, create(name, metric, registry)]),
  );
  return {
    contentType: registry.contentType,
    text: () => registry.metrics(),
    count: (name, labels, by = 1) => (metrics.get(name) as Counter).inc(labels, by),
    move: (name, labels, by) => (metrics.get(name) as Gauge).inc(labels, by),
    observe: (name, labels, seconds) => (metrics.get(name) as Histogram).observe(labels, seconds),
  };
}

function create(name: string, metric: MetricDefinition, registry: Registry) {
  const { help, labels, buckets = [] } = metric;
  const options = { name: METRIC_PREFIX + name, help, labelNames: labels, registers: [registry] };
  switch (metric.kind) {
    case "counter":
      return new Counter(options);
    case "gauge":
      return new Gauge(options);
    case "histogram":
      return new Histogram({ ...options, buckets: [...buckets] });
  }
}
