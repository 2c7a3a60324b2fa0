import type { MetricDefinition } from "../system/mod.ts";
import { numberText, type Sample } from "./metric_text.ts";

type Labels = Readonly<Record<string, string>>;

/** The measurements of one metric, by label values. */
export interface Series {
  /** Adds to the value under these labels, or records it where the metric is a histogram. */
  add(labels: Labels, value: number): void;
  /** What there is now, in the order in which label values were first seen. */
  samples(): Iterable<Sample>;
}

/** Makes a metric's series, without measurements. */
export function createSeries({ kind, labels: names, buckets = [] }: MetricDefinition): Series {
  return kind === "histogram" ? new Histogram(names, buckets) : new Sums(names);
}

/** Measurements under the same values of a metric's labels; other labels are not looked at. */
class ByLabels<Entry> {
  readonly #names: readonly string[];
  readonly #entries = new Map<string, { readonly labels: Labels; entry: Entry }>();

  constructor(names: readonly string[]) {
    this.#names = names;
  }

  /** The entry under these labels, made where there is none. */
  at(labels: Labels, make: () => Entry): { entry: Entry } {
    const key = JSON.stringify(this.#names.map((name) => labels[name] ?? ""));
    const known = this.#entries.get(key);
    if (known !== undefined) return known;
    const ordered = Object.fromEntries(this.#names.map((name) => [name, labels[name] ?? ""]));
    const made = { labels: ordered, entry: make() };
    this.#entries.set(key, made);
    return made;
  }

  [Symbol.iterator]() {
    return this.#entries.values();
  }
}

/** A counter or a gauge. */
class Sums implements Series {
  readonly #values: ByLabels<number>;

  constructor(names: readonly string[]) {
    this.#values = new ByLabels(names);
  }

  add(labels: Labels, value: number): void {
    this.#values.at(labels, () => 0).entry += value;
  }

  *samples(): Iterable<Sample> {
    for (const { labels, entry } of this.#values) yield { labels, value: entry };
  }
}

interface Distribution {
  /** Measurements up to each bound and above the one before it; the last one has no bound. */
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
    const { entry } = this.#values.at(
      labels,
      () => ({ counts: this.#bounds.map(() => 0), sum: 0 }),
    );
    const bucket = this.#bounds.findIndex((bound) => value <= bound);
    // Not a number: nothing that could be told about it would be true.
    if (bucket < 0) return;
    entry.counts[bucket] = (entry.counts[bucket] ?? 0) + 1;
    entry.sum += value;
  }

  *samples(): Iterable<Sample> {
    for (const { labels, entry } of this.#values) {
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
