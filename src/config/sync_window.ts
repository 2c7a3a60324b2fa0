import * as z from "zod";
import { parseDuration } from "../model/mod.ts";
import { decode } from "./decode.ts";
import { type Located, positionAt } from "./located.ts";
import { readList } from "./located_yaml.ts";
import type { PollOptions } from "./poll_config.ts";
import type { ProblemSink, Report } from "./problem_sink.ts";
import { checkScheduleShape, isTimeZone } from "./schedule_shape.ts";
import { choice, duration, field, flag, needed, scalar, scalars } from "./schema_words.ts";

/** Recurring times in which deployments are allowed or denied. */
export interface SyncWindow {
  readonly name: string;
  readonly kind: "allow" | "deny";
  /** Cron expression of the starts, without a zone. */
  readonly schedule: string;
  readonly durationSeconds: number;
  /** IANA zone of the schedule. */
  readonly timeZone: string;
  /** Globs of the deployments that the window applies to. All three lists must match; empty ones do. */
  readonly repositories: readonly string[];
  readonly deployments: readonly string[];
  readonly contexts: readonly string[];
  /** Whether the window lets manual deployments pass. */
  readonly manualSync: boolean;
}

interface SyncWindowOptions extends PollOptions {
  /** IANA zone of windows that name none. */
  readonly timeZone: string;
}

/** Shortest window, in seconds. */
const LEAST_DURATION = 60;
/** Longest window, in seconds: a longer one would be active always. */
const MOST_DURATION = 366 * 24 * 60 * 60;
/** Most windows of one list; every deployment checks all of them. */
const MOST_WINDOWS = 1000;

const windowSchema = z.strictObject({
  name: field(scalar(), "Name in messages; `<kind>-<position>` when absent."),
  kind: needed(choice(["allow", "deny"]), "Whether deployments may, or may not, be made in it."),
  schedule: needed(z.string({ error: "expected a cron expression of five fields" }), "Its starts."),
  duration: needed(duration(LEAST_DURATION), "How long it lasts."),
  timezone: field(scalar(), "IANA zone of the schedule; TZ when absent."),
  repositories: field(scalars(), "Globs of repositories; all when absent."),
  deployments: field(scalars(), "Globs of deployments; all when absent."),
  contexts: field(scalars(), "Globs of contexts; all when absent."),
  manual_sync: field(flag(), "Whether deployments a person asks for pass.", false),
});

type WrittenWindow = z.output<typeof windowSchema>;

/**
 * Reads SYNC_WINDOWS, a YAML list of windows. An empty list is fine.
 *
 * Throws `config_invalid` with every problem of every window.
 */
export function parseSyncWindows(text: string, options: SyncWindowOptions): SyncWindow[] {
  const { file } = options;
  const list = { text, file, what: "the sync windows", of: "windows", most: MOST_WINDOWS };
  const names = new Set<string>();
  return readList(list, (item, index, sink) => {
    const window = readWindow(item, index, { sink, options });
    const name = window.name.toLowerCase();
    if (names.has(name)) {
      sink.add(positionAt(item, "name"), "name", `another window is called ${window.name}, too`);
    }
    names.add(name);
    return window;
  });
}

function readWindow(
  node: Located,
  index: number,
  { sink, options }: { readonly sink: ProblemSink; readonly options: SyncWindowOptions },
): SyncWindow {
  // Of what is wrong only those keys are there that are right: they are looked at all the same.
  const instead = { kind: "deny", schedule: "@daily", duration: LEAST_DURATION };
  const written: WrittenWindow = { ...instead, ...decode(windowSchema, node, sink).value };
  const report: Report = (path, message) => sink.add(positionAt(node, path), path, message);
  const kind = written.kind.trim().toLowerCase() === "allow" ? "allow" : "deny";
  const name = (written.name ?? "").trim();
  const timeZone = (written.timezone ?? "").trim() || options.timeZone;
  if (!isTimeZone(timeZone)) report("timezone", `${JSON.stringify(timeZone)} is no time zone`);
  return {
    name: name === "" ? `${kind}-${index + 1}` : name,
    kind,
    schedule: startsOf(written.schedule, options, report),
    durationSeconds: durationOf(written.duration, report),
    timeZone,
    repositories: globs("repositories", written, report),
    deployments: globs("deployments", written, report),
    contexts: globs("contexts", written, report),
    manualSync: written.manual_sync ?? false,
  };
}

function startsOf(text: string, options: SyncWindowOptions, report: Report): string {
  const schedule = text.trim();
  const problem = /^(?:CRON_)?TZ=/.test(schedule)
    ? "expected no zone before the schedule; timezone is for it"
    : schedule.startsWith("@every")
    ? "a window starts at times of the clock: @every has none"
    : checkScheduleShape(schedule) ?? options.checkSchedule?.(schedule);
  if (problem !== undefined) report("schedule", problem);
  return schedule;
}

function durationOf(written: number | string, report: Report): number {
  let seconds = LEAST_DURATION;
  try {
    seconds = parseDuration(written);
  } catch {
    report("duration", "expected a whole number of seconds");
  }
  if (seconds < LEAST_DURATION || seconds > MOST_DURATION) {
    report("duration", "expected at least 1m and at most 8784h");
  }
  return seconds;
}

function globs(
  key: "repositories" | "deployments" | "contexts",
  written: WrittenWindow,
  report: Report,
): string[] {
  const list = (written[key] ?? []).map((each) => (each ?? "").trim());
  list.forEach((each, index) => {
    if (each === "") report(`${key}[${index}]`, "expected a pattern, found an empty text");
  });
  return list;
}
