import { requestKey, type SourceRequest } from "../model/mod.ts";
import { duplicateStacks } from "./duplicate_stacks.ts";
import type { Located } from "./located.ts";
import { locateJson } from "./located_json.ts";
import { readList } from "./located_yaml.ts";
import { MOST_POLL_REQUESTS } from "./poll_schema.ts";
import { invalidInput } from "./problem_sink.ts";
import type { CheckSchedule, PollEntry } from "./poll_entry.ts";
import { PollReader } from "./poll_entry_reader.ts";
import type { PollRequestOptions } from "./poll_timing.ts";

/** Most inline deployments of one request: as many as a run may deploy. */
const MOST_INLINE = 500;

/** Options for reading a list with schedules, as of polls. */
export interface PollOptions {
  /** Name of the input in messages: a file, or the variable that holds the text. */
  readonly file: string;
  /** A full check of cron expressions; the shape is checked in any case. */
  readonly checkSchedule?: CheckSchedule;
}

/**
 * Reads POLL_CONFIG, a YAML list of poll entries. An empty list is fine, and so is one whose
 * entries are all comments; a text without anything is refused, since it may have been cut off.
 *
 * Throws `config_invalid` with every problem of every entry.
 */
export function parsePollConfig(text: string, options: PollOptions): PollEntry[] {
  const { file } = options;
  if (isCommentOnly(text)) return [];
  const list = { text, file, what: "the poll configuration", of: "poll entries" };
  const before: PollEntry[] = [];
  return readList(list, (item, index, sink) => {
    const { entry, problems } = new PollReader(item, {
      where: file,
      index,
      manual: false,
      ...options,
    });
    sink.take(problems);
    const others = before.filter(({ request }) =>
      requestKey(request) === requestKey(entry.request)
    );
    const name = sharedName(entry, others);
    if (name !== undefined) {
      const message = `a deployment of an entry before, of the same url, is called "${name}" too`;
      sink.add(item.at, "deployments", message);
    }
    before.push(entry);
    return entry;
  });
}

/** A stack that an entry names, and one of the others as well: they would replace each other for ever. */
function sharedName({ request }: PollEntry, others: readonly PollEntry[]): string | undefined {
  const theirs = others.flatMap((each) => each.request.deployments);
  const all = [...theirs, ...request.deployments].map(({ deployment }) => deployment);
  const shared = duplicateStacks(all).find((indexes) => {
    const own = indexes.filter((index) => index >= theirs.length).length;
    return own > 0 && own < indexes.length;
  });
  return shared && all[shared[0] ?? 0]?.name;
}

function isCommentOnly(text: string): boolean {
  return text.includes("#") && text.split("\n").every((line) => /^\s*(?:#|$)/.test(line));
}

/**
 * Reads the body of a poll request, a JSON array of 1 to 32 entries. Their scheduling keys are
 * validated and then ignored; since they do nothing, a short interval passes.
 *
 * Throws `bad_request`; the message names the first faulty entry, `problems` lists those of all.
 */
export function parsePollRequest(
  value: unknown,
  options: PollRequestOptions = {},
): SourceRequest[] {
  const where = "request body";
  const node = locateJson(value);
  const message = refuseList(node);
  if (message !== undefined) {
    throw invalidInput("the poll request", [{ file: where, message }], "bad_request");
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
  if (length > MOST_POLL_REQUESTS) {
    return `expected at most ${MOST_POLL_REQUESTS} poll configurations, found ${length}`;
  }
  const inline = node.items.reduce((sum, each) => {
    const own = each.kind === "map" ? each.entries.get("deployments")?.value : undefined;
    return sum + (own?.kind === "list" ? own.items.length : 0);
  }, 0);
  if (inline <= MOST_INLINE) return undefined;
  return `expected at most ${MOST_INLINE} deployments in all poll configurations, found ${inline}`;
}
