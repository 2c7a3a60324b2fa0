import { parseDuration } from "../model/mod.ts";
import type { Located } from "./located.ts";
import { DEFAULT_INTERVAL, LEAST_INTERVAL, type WrittenPollEntry } from "./poll_schema.ts";
import type { Report } from "./problem_sink.ts";
import { checkScheduleShape } from "./schedule_shape.ts";
import type { CheckSchedule, PollEntry } from "./poll_entry.ts";

/** Options for reading the poll entries of a request. */
export interface PollRequestOptions {
  /** `refuse` makes run_once, interval and schedule errors, as the tool server wants it. */
  readonly scheduling?: "ignore" | "refuse";
  readonly checkSchedule?: CheckSchedule;
}

/** The options on which the timing of an entry depends. */
export interface TimingOptions extends PollRequestOptions {
  /** True for a poll on request, for which scheduling keys have no effect. */
  readonly manual: boolean;
}

/** The times at which an entry is polled; the problems of its keys are reported. */
export function scheduling(
  written: WrittenPollEntry,
  node: Located,
  options: TimingOptions,
  report: Report,
): Pick<PollEntry, "intervalSeconds" | "schedule"> {
  if (options.scheduling === "refuse") refuseScheduling(node, report);
  const schedule = (written.schedule ?? "").trim();
  const interval = intervalSeconds(written, node, report);
  if (schedule !== "") {
    const problem = checkScheduleShape(schedule) ?? options.checkSchedule?.(schedule);
    if (problem !== undefined) report("schedule", problem);
    if (interval !== undefined && interval !== 0) {
      report("schedule", "a schedule and an interval other than 0 exclude each other");
    }
    return { intervalSeconds: 0, schedule };
  }
  const seconds = interval ?? DEFAULT_INTERVAL;
  if (!options.manual && seconds !== 0 && seconds < LEAST_INTERVAL) {
    report("interval", `expected 0 or at least ${LEAST_INTERVAL} seconds, found ${seconds}`);
  }
  return { intervalSeconds: seconds };
}

function refuseScheduling(node: Located, report: Report): void {
  for (const key of ["run_once", "interval", "schedule"]) {
    const given = node.kind === "map" && node.entries.has(key);
    if (given) report(key, "not accepted here: this poll runs once, now");
  }
}

/** Seconds of the interval; `undefined` for an absent key. `null` means 0, as in doco-cd. */
function intervalSeconds(written: WrittenPollEntry, node: Located, report: Report) {
  if (written.interval === undefined || written.interval === null) {
    return node.kind === "map" && node.entries.has("interval") ? 0 : undefined;
  }
  try {
    return parseDuration(written.interval);
  } catch {
    report("interval", "expected a whole number of seconds");
    return 0;
  }
}
