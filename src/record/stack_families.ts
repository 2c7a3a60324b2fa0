import type { Family } from "./metric_text.ts";

/** Metrics of one stack. */
export interface StackFigures {
  readonly repository: string;
  readonly deployment: string;
  readonly context: string;
  /** Whether its last release failed, or could not be prepared. */
  readonly isFailing: boolean;
  /** Whether the source of its configuration cannot be read. */
  readonly isSourceFailing: boolean;
  /** Whether a person holds it back: paused or rolled back. */
  readonly isHeld: boolean;
  /** Time at which the deployed release became healthy. */
  readonly succeededAt: Date | undefined;
  /** Time of the last decision about it. */
  readonly lookedAt: Date | undefined;
  /** Number of fields that the last look found changed by hand. */
  readonly drift: number | undefined;
}

/** The gauges of stacks, from what the ledger has at the time of a scrape. */
export function stackFamilies(prefix: string, stacks: readonly StackFigures[]): Family[] {
  const gauge = (
    name: string,
    help: string,
    value: (stack: StackFigures) => number | undefined,
  ): Family => ({
    name: `${prefix}stack_${name}`,
    kind: "gauge",
    help,
    samples: stacks.flatMap((stack) => {
      const { repository, deployment, context } = stack;
      const found = value(stack);
      return found === undefined
        ? []
        : [{ labels: { repository, deployment, context }, value: found }];
    }),
  });
  return [
    gauge(
      "failing",
      "1 while the last release failed or could not be prepared.",
      (each) => Number(each.isFailing),
    ),
    gauge(
      "source_failing",
      "1 while the source of its configuration cannot be read.",
      (each) => Number(each.isSourceFailing),
    ),
    gauge(
      "held",
      "1 while a person holds the stack back: paused or put back.",
      (each) => Number(each.isHeld),
    ),
    gauge(
      "last_success_timestamp_seconds",
      "When what is deployed became healthy, in seconds since 1970.",
      (each) => seconds(each.succeededAt),
    ),
    gauge(
      "last_look_timestamp_seconds",
      "When it was last decided about, in seconds since 1970.",
      (each) => seconds(each.lookedAt),
    ),
    gauge(
      "drifted_fields",
      "How many fields of its containers were changed by hand; one more for each that loops.",
      (each) => each.drift,
    ),
  ];
}

function seconds(instant: Date | undefined): number | undefined {
  return instant === undefined ? undefined : Math.floor(instant.getTime() / 1000);
}
