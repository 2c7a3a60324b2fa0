import { parseDuration, type Problem, type SourceRequest } from "../model/mod.ts";
import { isConfigTarget } from "./config_file_names.ts";
import { decode } from "./decode.ts";
import { type InlineReading, readInlineDeployments } from "./deployment.ts";
import { type Located, positionAt } from "./located.ts";
import { locateJson } from "./located_json.ts";
import { parseLocatedYaml } from "./located_yaml.ts";
import {
  DEFAULT_INTERVAL,
  DEFAULT_REFERENCE,
  LEAST_INTERVAL,
  MOST_POLL_REQUESTS,
  pollEntrySchema,
  type WrittenPollEntry,
} from "./poll_schema.ts";
import { invalidInput, ProblemSink, type Report } from "./problem_sink.ts";
import { checkArtifactUrl, checkRepositoryUrl } from "./repository_url.ts";
import { checkScheduleShape } from "./schedule_shape.ts";

/** One source that is looked at again and again. */
export interface PollEntry {
  readonly request: SourceRequest;
  /** Seconds from the end of one poll to the next; 0 when no interval polls it. */
  readonly intervalSeconds: number;
  /** Cron expression, with its zone prefix if it has one. */
  readonly schedule?: string;
  readonly runOnce: boolean;
  /** Whether a local repository is watched for changes. */
  readonly watch: boolean;
}

/** Says what is wrong with a cron expression, or nothing. */
export type CheckSchedule = (schedule: string) => string | undefined;

/** Options for reading a poll configuration. */
export interface PollOptions {
  /** Name of the input in messages: a file, or the variable that holds the text. */
  readonly file: string;
  /** A full check of cron expressions; the shape is checked in any case. */
  readonly checkSchedule?: CheckSchedule;
}

/** Options for reading the poll entries of a request. */
export interface PollRequestOptions {
  /** `refuse` makes run_once, interval and schedule errors, as the tool server wants it. */
  readonly scheduling?: "ignore" | "refuse";
  readonly checkSchedule?: CheckSchedule;
}

/**
 * Reads POLL_CONFIG, a YAML list of poll entries. An empty list is fine.
 *
 * Throws `config_invalid` with every problem of every entry.
 */
export function parsePollConfig(text: string, options: PollOptions): PollEntry[] {
  const [first, second] = parseLocatedYaml(text, options.file);
  const sink = new ProblemSink(options.file);
  if (second !== undefined) sink.add(second.root.at, "", "expected a single document");
  if (first?.root.kind !== "list") {
    sink.add(first?.root.at, "", "expected a list of poll entries");
  }
  if (!sink.clean) throw invalidInput(`the poll configuration ${options.file}`, sink.problems);
  const items = first?.root.kind === "list" ? first.root.items : [];
  const readers = items.map((item, index) =>
    new PollReader(item, { where: options.file, index, manual: false, ...options })
  );
  const problems = readers.flatMap((reader) => reader.problems);
  if (problems.length > 0) throw invalidInput(`the poll configuration ${options.file}`, problems);
  return readers.map((reader) => reader.entry);
}

/**
 * Reads the body of a poll request, a JSON array of 1 to 32 entries. Their scheduling keys are
 * validated and then ignored; since they do nothing, a short interval passes.
 *
 * Throws `bad_request`; its message names the first entry that is wrong, its problems are all.
 */
export function parsePollRequest(
  value: unknown,
  options: PollRequestOptions = {},
): SourceRequest[] {
  const where = "request body";
  const node = locateJson(value);
  const refusal = refuseList(node);
  if (refusal !== undefined) {
    const sink = new ProblemSink(where);
    sink.add(undefined, "", refusal);
    throw invalidInput("the poll request", sink.problems, "bad_request");
  }
  const items = node?.kind === "list" ? node.items : [];
  const readers = items.map((item, index) =>
    new PollReader(item, { where, index, manual: true, ...options })
  );
  const bad = readers.findIndex((reader) => reader.problems.length > 0);
  if (bad >= 0) {
    const problems = readers.flatMap((reader) => reader.problems);
    throw invalidInput(`the poll configuration at index ${bad}`, problems, "bad_request");
  }
  return readers.map((reader) => reader.entry.request);
}

function refuseList(node: Located | undefined): string | undefined {
  if (node === undefined) return "the body is nested too deeply";
  if (node.kind !== "list" && node.kind !== "null") return "expected a JSON array";
  if (node.kind === "null" || node.items.length === 0) {
    return "expected at least one poll configuration";
  }
  const { length } = node.items;
  if (length <= MOST_POLL_REQUESTS) return undefined;
  return `expected at most ${MOST_POLL_REQUESTS} poll configurations, found ${length}`;
}

interface EntryOptions extends PollRequestOptions {
  readonly where: string;
  readonly index: number;
  /** Asked for by somebody who is waiting, so that scheduling keys do nothing. */
  readonly manual: boolean;
}

/** Reads one located value as a poll entry. */
class PollReader {
  readonly entry: PollEntry;
  readonly problems: readonly Problem[];

  constructor(node: Located, options: EntryOptions) {
    const prefix = `[${options.index}]`;
    const sink = new ProblemSink(options.where, { prefix });
    const report: Report = (path, message) => sink.add(positionAt(node, path), path, message);
    const own = withoutDeployments(node);
    const { value } = decode(pollEntrySchema, own, sink);
    const inline = readInline(node, (path) => new ProblemSink(options.where, { prefix: path }), {
      prefix,
      sink,
    });
    const written: WrittenPollEntry = sink.clean ? value : { url: "https://unreadable/" };
    this.entry = {
      request: sourceRequest(written, inline, report),
      ...scheduling(written, node, options, report),
      runOnce: written.run_once ?? false,
      watch: written.watch ?? true,
    };
    this.problems = [...sink.problems, ...inline.problems];
  }
}

/** The inline deployments are read by their own reader, which applies the rules of deployments. */
function withoutDeployments(node: Located): Located {
  if (node.kind !== "map") return node;
  const entries = new Map(node.entries);
  entries.delete("deployments");
  return { ...node, entries };
}

function readInline(
  node: Located,
  sinkFor: (path: string) => ProblemSink,
  { prefix, sink }: { readonly prefix: string; readonly sink: ProblemSink },
): InlineReading {
  const list = node.kind === "map" ? node.entries.get("deployments")?.value : undefined;
  if (list === undefined || list.kind === "null") return { documents: [], problems: [] };
  if (list.kind !== "list") {
    sink.add(list.at, "deployments", "expected a list of deployments");
    return { documents: [], problems: [] };
  }
  return readInlineDeployments(
    list.items,
    (index) => sinkFor(`${prefix}.deployments[${index}]`),
  );
}

function sourceRequest(
  written: WrittenPollEntry,
  inline: InlineReading,
  report: Report,
): SourceRequest {
  const target = (written.target ?? "").trim();
  if (target !== "" && !isConfigTarget(target)) {
    report("target", "expected letters, digits, dots, dashes and underscores");
  }
  const kind = (written.source ?? "").trim().toLowerCase() === "oci" ? "oci" : "git";
  const place = kind === "oci" ? artifactPlace(written, report) : repositoryPlace(written, report);
  const deployments = inline.documents.map(({ deployment, given }) => ({ deployment, given }));
  return { kind, ...place, target, deployments };
}

function artifactPlace(written: WrittenPollEntry, report: Report) {
  const checked = checkArtifactUrl(written.url);
  if ("value" in checked) return checked.value;
  report("url", checked.problem);
  return { url: "", reference: "" };
}

function repositoryPlace(written: WrittenPollEntry, report: Report) {
  const checked = checkRepositoryUrl(written.url, true);
  if ("problem" in checked) report("url", checked.problem);
  const reference = (written.reference ?? "").trim();
  return {
    url: "value" in checked ? checked.value : "",
    reference: reference === "" ? DEFAULT_REFERENCE : reference,
  };
}

function scheduling(
  written: WrittenPollEntry,
  node: Located,
  options: EntryOptions,
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

/** `undefined` when the key is absent; `null` means 0, as for the closest peer. */
function intervalSeconds(
  written: WrittenPollEntry,
  node: Located,
  report: Report,
): number | undefined {
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
