import {
  clip,
  type ErrorCode,
  isStackwrightError,
  StackwrightError,
  utf8,
} from "../../model/mod.ts";
import { type JsonObject, objectAt, textAt } from "../../compose/mod.ts";
import type { ComposeArguments, ComposeProject } from "./command.ts";
import {
  RENDER_LIMIT_BYTES,
  RENDER_LIMIT_MEMORY,
  RENDER_LIMIT_PROCESSOR_SECONDS,
} from "./render_limits.ts";
import { renderHint } from "./render_hints.ts";
import type { Command, CommandResult } from "../../system/mod.ts";

/** A message of compose, with paths relative to the repository, as its authors know them. */
export function asWritten(text: string, { tree, configurationTree }: ComposeProject): string {
  return [tree, configurationTree].filter((each) => each !== undefined).reduce(
    (rest, each) => rest.replaceAll(`${each}/`, "").replaceAll(each, "."),
    text,
  );
}

/** The error of a failed command, in the words of compose or with the limit that ended it. */
export function failureOf(
  code: ErrorCode,
  { result, command, project, model = {} }: {
    readonly result: Pick<CommandResult, "code" | "stderr" | "stdout">;
    readonly command: Command;
    readonly project: ComposeProject;
    readonly model?: JsonObject | undefined;
  },
): StackwrightError {
  const isTooLong = KILLED.has(result.code) && command.mostProcessorSeconds !== undefined;
  const isOutOfMemory = saysOutOfMemory(result.stderr);
  const tookTooMuch = isOutOfMemory || isTooLong;
  const why = isOutOfMemory
    ? tookAllMemory(code)
    : isTooLong
    ? TOOK_ALL_TIME
    : code === "build_failed"
    ? `${failedStep(utf8(result.stdout))}${result.stderr}`
    : result.stderr;
  const said = explain(command.argv, asWritten(why, project), objectAt(model, "services"));
  // Compose never names the included file of an error, so the hint can only name the main files.
  const files = project.files.map((file) => asWritten(file, project));
  const hint = code === "render_failed" ? renderHint(said, files) : "";
  return new StackwrightError(code, `${said}${hint}`, { tookTooMuch });
}

/** The error of a command that was ended for the size of its output, or for its memory. */
export function tookTooMuch(code: ErrorCode, cause: StackwrightError): StackwrightError {
  const why = /memory/.test(cause.message) ? tookAllMemory(code) : PRINTS_TOO_MUCH;
  return new StackwrightError(code, `docker compose ${DOING[code] ?? "config"} failed: ${why}`, {
    cause,
    tookTooMuch: true,
  });
}

/** Commands of compose by the code of their failures; any other is the one that renders. */
const DOING: { readonly [Code in ErrorCode]?: string } = {
  build_failed: "build",
  pull_failed: "pull",
  deploy_failed: "up",
};

const PRINTS_TOO_MUCH =
  `the rendered project has more than ${RENDER_LIMIT_BYTES / 1024 ** 2} MiB; ` +
  "long ranges of ports, and values that are repeated many times over, make it so: publish fewer ports, " +
  "or give large values by files";

/** Messages of Go's runtime, and of its threads, when memory is exhausted. */
function saysOutOfMemory(stderr: string): boolean {
  return /^(?:fatal error: .*(?:out of|allocate) memory|runtime\/cgo: pthread_create failed)/m
    .test(stderr);
}

function tookAllMemory(code: ErrorCode): string {
  const why = code === "build_failed"
    ? "expressions (%{ }) in what is built, and a policy beside the Dockerfile, do that: take out " +
      "what repeats them"
    : DOING[code] !== undefined
    ? "an engine whose answers do not end does that: is it one?"
    : "variables and files that repeat each other several times over do that: write them out, or " +
      "take out what repeats them";
  const most = `${RENDER_LIMIT_MEMORY / 1024 ** 2} MiB`;
  return `it needed more than ${most} of memory, or the machine has none left; ${why}`;
}

/** Exit codes after SIGKILL and SIGXCPU. */
const KILLED: ReadonlySet<number> = new Set([128 + 9, 128 + 24]);

const TOOK_ALL_TIME =
  `it was killed: it took more than ${RENDER_LIMIT_PROCESSOR_SECONDS} seconds of processor time, or the ` +
  "machine has no memory left; files that include or extend each other several times over do that: " +
  "include each of them once";

/** The line above and below a failed step. */
const RULE = "------";

/** The step at which a build failed, with the end of its output, as most versions print it. */
function failedStep(stdout: string): string {
  // By lines: for a pattern, names of steps with `\r` in them begin in 16,000 places and end nowhere.
  const lines = stdout.split("\n");
  const begin = lines.findIndex((line, at) => line === RULE && lines[at + 1]?.startsWith(" > ["));
  const end = begin < 0 ? -1 : lines.indexOf(RULE, begin + 1);
  if (end < 0) return "";
  const [what = "", ...printed] = lines.slice(begin + 1, end).join("\n").trim().split("\n");
  const told = [what, ...printed.slice(-10)].join("\n");
  // With the sign of a cut, before which the beginning of a secret is hidden.
  return `${clip(told, 4096)}\n`;
}

const DAEMON = "Error response from daemon: ";

/** Lines of a failed pull: adds images to services, and drops repetitions of the engine's error. */
function withImages(lines: readonly string[], services: JsonObject): readonly string[] {
  const named = lines.map((line) =>
    line.replace(/^\s*(\S+) Error (?:response from daemon: )?/, (whole, service) => {
      const image = textAt(objectAt(services, service), "image");
      return image === "" ? whole : `service ${service}, image ${image}: `;
    })
  );
  const others = named.filter((line) => !line.startsWith(DAEMON));
  return named.filter((line) =>
    others.includes(line) || !others.some((each) => each.endsWith(line.slice(DAEMON.length)))
  );
}

/** Last lines of a failed pull that are compared: a registry decides about their number. */
const MOST_LINES = 200;

/** Characters of a line that are examined and shown: a repository decides about its length. */
const LONGEST_LINE = 4000;

/** The lines in which compose gives the reason of a failure, without its progress. */
function explain(args: ComposeArguments, stderr: string, services: JsonObject): string {
  const subcommand = args.find((each) => ["config", "pull", "build", "up"].includes(each));
  const lines = stderr.split("\n").filter((line) => line.trim() !== "").map((line) =>
    clip(line.trimEnd(), LONGEST_LINE)
  );
  const telling = lines.filter((line) => !isProgress(line) && !/level=warning/.test(line));
  const told = subcommand === "pull" ? withImages(telling.slice(-MOST_LINES), services) : telling;
  const text = withoutValue((told.length > 0 ? told : lines).slice(-15).join("\n"));
  return `docker compose ${subcommand} failed: ${text.trimStart() || "it gave no reason"}`;
}

/** Text without the value of a failed interpolation or dotenv line, which is often a password. */
function withoutValue(text: string): string {
  return text.replace(/(You may need to escape any \$ with another \$\.)\n[^]*$/, "$1")
    .replace(/(in variable name|unterminated quoted value|Invalid template):? ["'][^\n]*/g, "$1");
}

/**
 * Hides names that may be part of a password: compose reads `$` in a value as a variable. So is one
 * whose end was cut off.
 */
function withoutValueInName(warning: string): string {
  return warning.replace(
    /(The ")([^"]+)(" variable is not set|…$)/,
    (whole, before, name, after) =>
      after !== "…" && /^(?:[A-Z][A-Z0-9_]*|[a-z][a-z_]*)$/.test(name)
        ? whole
        : `${before}***${after} (a dollar in a value is written $$)`,
  );
}

function isProgress(line: string): boolean {
  return /^\s*(?:Container|Network|Volume|Image) \S+\s+(?:Creat|Start|Recreat|Stop|Remov|Wait|Runn|Health|Exit|Pull|Build|Built|Interrupted)/
    .test(line) ||
    /^\s+\S+\s+(?:Pull|Skipped|Interrupted|Download|Extract|Waiting|Verifying)/.test(line) ||
    /^#\d+ (?:\[|DONE|CACHED|sha256|transferring|exporting|naming|writing|\d)/.test(line);
}

/** Limit of reported warnings: compose prints one for each unset variable. */
const MOST_WARNINGS = 50;

/** Characters of a warning that are told: a name in it may be as long as a file. */
const MOST_SAID = 1000;

/** The distinct warnings that compose printed, and the number of those beyond the limit. */
export function warnings(stderr: string): string[] {
  // Cut before any pattern sees them: a repeated group of 100,000 characters takes Bun half a second.
  const lines = stderr.split("\n").map((line) => clip(line, LONGEST_LINE));
  const all = [...new Set(lines.filter((line) => /level=warning/.test(line)))];
  const told = all.slice(0, MOST_WARNINGS).map((line) =>
    /msg="((?:[^"\\]|\\.)*)/.exec(line)?.[1]?.replaceAll('\\"', '"') ?? line
  ).map(withoutValueInName)
    // Cut at its end, with an ellipsis: what masks secrets knows their beginnings there.
    .map((each) => clip(each, MOST_SAID));
  const more = all.length - told.length;
  return more > 0 ? [...told, `docker compose printed ${more} more warnings`] : told;
}

/** The last line that a program printed. */
export function lastLine(text: string): string {
  return text.trim().split("\n").at(-1) ?? "";
}

/** Milliseconds of a rendering beyond which a failure of it took too much to be tried again and again. */
const LONG_MS = 3000;

/** Runs a rendering, whose failure takes too much where it comes late: tried again, it comes as late. */
export async function notingLong<T>(
  render: () => Promise<T>,
  now: () => number = () => performance.now(),
): Promise<T> {
  const began = now();
  try {
    return await render();
  } catch (error) {
    if (!isStackwrightError(error, "render_failed") || now() - began <= LONG_MS) throw error;
    const { code, message, told, problems } = error;
    throw new StackwrightError(code, message, { cause: error, told, problems, tookTooMuch: true });
  }
}
