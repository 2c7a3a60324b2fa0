import type { MetricDefinition } from "../system/mod.ts";
import { numberText, type Sample } from "./metric_text.ts";

type Labels = Readonly<Record<string, string>>;

/** Measurements kept of one metric under different labels. */
export const MOST_SERIES = 5_000;

/** The measurements of one metric, by label values. */
interface Series {
  /** Adds to the value under these labels, or records it where the metric is a histogram. */
  add(labels: Labels, value: number): void;
  /** What there is now, in the order in which label values were first seen. */
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
  /** Counts up: when it was measured last. */
  touched: number;
}

/**
 * Measurements under the same values of a metric's labels; other labels are not looked at. There are at
 * most {@link MOST_SERIES} of them: who writes a repository names as many stacks as they like. Of those
 * whose first label, the repository, has most, the half goes that was not measured for the longest time;
 * what `isIdle` says nothing goes on of goes first.
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

  /** The entry under these labels, made where there is none. */
  at(labels: Labels, make: () => Value): Entry<Value> {
    const key = JSON.stringify(this.#names.map((name) => labels[name] ?? ""));
    const known = this.#entries.get(key);
    if (known !== undefined) {
      known.touched = ++this.#measured;
      return known;
    }
    if (this.#entries.size === MOST_SERIES) this.#makeRoom();
    const ordered = Object.fromEntries(this.#names.map((name) => [name, labels[name] ?? ""]));
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
    // Where each has one of its own, no one is to blame.
    const doomed = largest.length > 1 ? largest : [...this.#entries];
    const busy = ({ value }: Entry<Value>) => this.#isIdle(value) ? 0 : 1;
    doomed.sort(([, a], [, b]) => busy(a) - busy(b) || a.touched - b.touched);
    for (const [key] of doomed.slice(0, Math.ceil(doomed.length / 2))) this.#entries.delete(key);
  }
}

/**
 * A counter or a gauge. A gauge is the number of things under way: one whose beginning was forgotten
 * when room was made must not count below zero at its end, for ever.
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
    const { value: entry } = this.#values.at(
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
