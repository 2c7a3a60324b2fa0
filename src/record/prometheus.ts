import {
  type Meter,
  type MetricLabels,
  type MetricName,
  METRICS,
  type ProcessFacts,
  readProcessFacts,
  redactTexts,
} from "../system/mod.ts";
import { type Family, METRIC_TEXT_TYPE, metricText } from "./metric_text.ts";
import { mirrorFamilies, type MirrorFigures } from "./mirror_families.ts";
import { processFamilies } from "./process_families.ts";
import { createSeries } from "./series.ts";
import { stackFamilies, type StackFigures } from "./stack_families.ts";

/** Prefix of Stackwright's own metrics; those of the process have none, as usual. */
const METRIC_PREFIX = "service_";

/** A meter whose measurements can be read. */
export interface Prometheus extends Meter {
  /** Media type of {@link Prometheus.text}. */
  readonly contentType: string;
  /** Everything measured so far, in the text format of Prometheus. */
  text(): Promise<string>;
  /** Sets where figures of stacks come from; they are read at every scrape. */
  showStacks(read: () => readonly StackFigures[]): void;
  /**
   * Sets where figures of mirrors come from; they are read at every scrape. A repository may occur
   * several times. Left out when they cannot be read.
   */
  showMirrors(read: () => Promise<readonly MirrorFigures[]>): void;
}

/**
 * Makes a meter for Prometheus that adds the metrics of the process. Measures nothing between
 * scrapes but what it is told, so that an idle service stays asleep. Labels pass `redact`.
 */
export function createPrometheus(
  readProcess: () => ProcessFacts = readProcessFacts,
  redact: (text: string) => string = (text) => text,
): Prometheus {
  let stacks: () => readonly StackFigures[] = () => [];
  let mirrors: () => Promise<readonly MirrorFigures[]> = () => Promise.resolve([]);
  let looking: Promise<readonly MirrorFigures[]> | undefined;
  // One look at the disk at a time. When it fails, the other metrics are needed all the more.
  const lookAtMirrors = () =>
    looking ??= mirrors().catch(() => []).finally(() => looking = undefined);
  const series = new Map(
    Object.entries(METRICS).map(([name, metric]) => [name, createSeries(metric)]),
  );
  const add = <Name extends MetricName>(name: Name, labels: MetricLabels<Name>, value: number) =>
    series.get(name)?.add(redactTexts(labels, redact), value);
  const families = (): Family[] =>
    Object.entries(METRICS).map(([name, { kind, help }]) => ({
      name: METRIC_PREFIX + name,
      kind,
      help,
      samples: series.get(name)?.samples() ?? [],
    }));
  return {
    contentType: METRIC_TEXT_TYPE,
    text: async () => {
      const ofMirrors = mirrorFamilies(METRIC_PREFIX, redactTexts(await lookAtMirrors(), redact));
      return metricText([
        ...processFamilies(readProcess()),
        ...families(),
        ...stackFamilies(METRIC_PREFIX, redactTexts(stacks(), redact)),
        ...ofMirrors,
      ]);
    },
    showStacks: (read) => void (stacks = read),
    showMirrors: (read) => void (mirrors = read),
    count: (name, labels, by = 1) => add(name, labels, by),
    move: add,
    observe: add,
  };
}
