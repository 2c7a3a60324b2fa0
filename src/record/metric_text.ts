/** One line of a metric: a value under labels. */
export interface Sample {
  /** What follows the metric's name: `_bucket`, `_sum`, `_count`, or nothing. */
  readonly suffix?: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** A metric with all its samples. */
export interface Family {
  readonly name: string;
  readonly kind: "counter" | "gauge" | "histogram";
  readonly help: string;
  readonly samples: Iterable<Sample>;
}

/** Media type of {@link metricText}. */
export const METRIC_TEXT_TYPE = "text/plain; version=0.0.4; charset=utf-8";

/** Families in the text format of Prometheus. */
export function metricText(families: Iterable<Family>): string {
  const parts: string[] = [];
  for (const { name, kind, help, samples } of families) {
    parts.push(`# HELP ${name} ${escapeHelp(help)}\n# TYPE ${name} ${kind}\n`);
    for (const { suffix = "", labels, value } of samples) {
      parts.push(`${name}${suffix}${labelText(labels)} ${numberText(value)}\n`);
    }
    parts.push("\n");
  }
  return parts.join("");
}

function labelText(labels: Readonly<Record<string, string>>): string {
  const written = Object.entries(labels).map(([name, value]) => `${name}="${escapeLabel(value)}"`);
  return written.length === 0 ? "" : `{${written.join(",")}}`;
}

/** A number in Prometheus's format: infinities have a sign and a short name. */
export function numberText(value: number): string {
  if (value === Number.POSITIVE_INFINITY) return "+Inf";
  if (value === Number.NEGATIVE_INFINITY) return "-Inf";
  return String(value);
}

function escapeHelp(text: string): string {
  return text.replace(/[\\\n]/g, (each) => each === "\n" ? "\\n" : "\\\\");
}

function escapeLabel(text: string): string {
  return text.replace(/[\\\n"]/g, (each) => each === "\n" ? "\\n" : `\\${each}`);
}
