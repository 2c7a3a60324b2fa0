import { beginning } from "../model/mod.ts";
import type { MetricDefinition } from "../system/mod.ts";
import { numberText, type Sample } from "./metric_text.ts";

type Labels = Readonly<Record<string, string>>;

/** Most combinations of label values of one metric. */
export const MOST_SERIES = 5_000;

/** Characters of one label value that are kept: an engine of another context names its jobs. */
const MOST_OF_VALUE = 256;

/** The measurements of one metric, by label values. */
interface Series {
  /** Adds to the value under these labels; a histogram records the value. */
  add(labels: Labels, value: number): void;
  /** The current samples, in the order in which label values were first seen. */
  samples(): Iterable<Sample>;
}

/** Makes a metric's series, without measurements. */
export function createSeries({ kind, labels: names, buckets = [] }: MetricDefinition): Series {
  if (kind === "histogram") return new Histogram(names, buckets);
  return new Sums(names, kind === "gauge");
}

interface Entry<Value> {
  readonly labels: Labels;
  value: Value;
  /** Sequence number of the last measurement. */
  touched: number;
}

/**
 * Measurements by the values of a metric's labels; other labels are ignored. At most {@link
 * MOST_SERIES}: repositories may name as many stacks as they like. At the limit, the repository (the
 * first label) with the most entries loses half of them: idle ones (`isIdle`), then the oldest.
 */
class ByLabels<Value> {
  readonly #names: readonly string[];
  readonly #isIdle: (value: Value) => boolean;
  readonly #entries = new Map<string, Entry<Value>>();
  #measured = 0;

  constructor(names: readonly string[], isIdle: (value: Value) => boolean = () => true) {
    this.#names = names;
    this.#isIdle = isIdle;
  }

  /** The entry under these labels; makes it if there is none. */
  at(labels: Labels, make: () => Value): Entry<Value> {
    const values = this.#names.map((name) => beginning(labels[name] ?? "", MOST_OF_VALUE));
    const key = JSON.stringify(values);
    const known = this.#entries.get(key);
    if (known !== undefined) {
      known.touched = ++this.#measured;
      return known;
    }
    if (this.#entries.size === MOST_SERIES) this.#makeRoom();
    const ordered = Object.fromEntries(this.#names.map((name, at) => [name, values[at] ?? ""]));
    const made = { labels: ordered, value: make(), touched: ++this.#measured };
    this.#entries.set(key, made);
    return made;
  }

  [Symbol.iterator]() {
    return this.#entries.values();
  }

  #makeRoom(): void {
    const [first = ""] = this.#names;
    const groups = Map.groupBy(this.#entries, ([, { labels }]) => labels[first]);
    const [largest = []] = [...groups.values()].sort((a, b) => b.length - a.length);
    // When every repository has a single entry, entries of all of them go.
    const doomed = largest.length > 1 ? largest : [...this.#entries];
    const busy = ({ value }: Entry<Value>) => this.#isIdle(value) ? 0 : 1;
    doomed.sort(([, a], [, b]) => busy(a) - busy(b) || a.touched - b.touched);
    for (const [key] of doomed.slice(0, Math.ceil(doomed.length / 2))) this.#entries.delete(key);
  }
}

/**
 * A counter, or a gauge of things under way. Values never fall below zero: a gauge whose start was
 * dropped at the limit would stay negative for ever after its end.
 */
class Sums implements Series {
  readonly #values: ByLabels<number>;

  constructor(names: readonly string[], isGauge: boolean) {
    this.#values = new ByLabels(names, isGauge ? (value) => value === 0 : undefined);
  }

  add(labels: Labels, value: number): void {
    const entry = this.#values.at(labels, () => 0);
    entry.value = Math.max(0, entry.value + value);
  }

  *samples(): Iterable<Sample> {
    for (const { labels, value } of this.#values) yield { labels, value };
  }
}

interface Distribution {
  /** Measurements above the previous bound, up to each bound; the last one is unbounded. */
  readonly counts: number[];
  sum: number;
}

class Histogram implements Series {
  readonly #bounds: readonly number[];
  readonly #values: ByLabels<Distribution>;

  constructor(names: readonly string[], bounds: readonly number[]) {
    this.#bounds = [...bounds, Number.POSITIVE_INFINITY];
    this.#values = new ByLabels(names);
  }

  add(labels: Labels, value: number): void {
    const bucket = this.#bounds.findIndex((bound) => value <= bound);
    // Not a number: it belongs to no bucket and would spoil the sum.
    if (bucket < 0) return;
    const { value: entry } = this.#values.at(
      labels,
      () => ({ counts: this.#bounds.map(() => 0), sum: 0 }),
    );
    entry.counts[bucket] = (entry.counts[bucket] ?? 0) + 1;
    entry.sum += value;
  }

  *samples(): Iterable<Sample> {
    for (const { labels, value: entry } of this.#values) {
      let count = 0;
      for (const [index, bound] of this.#bounds.entries()) {
        count += entry.counts[index] ?? 0;
        yield { suffix: "_bucket", labels: { le: numberText(bound), ...labels }, value: count };
      }
      yield { suffix: "_sum", labels, value: entry.sum };
      yield { suffix: "_count", labels, value: count };
    }
  }
}
