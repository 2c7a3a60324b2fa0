/** The commands of the binary: finds and runs one, and turns errors into messages and exit codes. */
import process from "node:process";
import { nearestKey } from "../config/nearest_key.ts";
import {
  errors,
  formatProblem,
  isStackwrightError,
  messageOf,
  type StackwrightError,
} from "../model/mod.ts";
import { systemCommands } from "../system/commands.ts";
import { becomeConfined, CONFINED, confiningCommands } from "../system/confined_programs.ts";
import { redactOutput } from "../system/redact_texts.ts";
import { createRedactor } from "../system/redactor.ts";
import { EVERYONE } from "../system/secret_owners.ts";
import { visible } from "../system/visible.ts";
import { seesColours, visibleLines } from "./colours.ts";
import { COMMANDS } from "./commands.ts";
import { type CommandIo, EXIT } from "./io.ts";
import { ownEnvironment } from "./own_environment.ts";
import { trackedOutput } from "./standard_streams.ts";
import { isExecutable, tuneRuntime } from "./tuned_runtime.ts";

/** Commands that may be in the middle of a change when somebody presses Ctrl-C. */
const CHANGING = ["apply", "rollback", "retry"];
const INTERRUPTED = "stackwright: interrupted; a change that was begun is ended in order by the " +
  "next stackwright apply, or by the service\n";

/** Runs the program; returns the exit code when everything it said has been taken. */
export async function main(): Promise<number> {
  const [out, err] = [trackedOutput(process.stdout), trackedOutput(process.stderr)];
  if (process.argv[2] === CONFINED) {
    const code = await becomeConfined(
      process.argv.slice(3),
      process.env,
      (text) => err.write(text),
    );
    await err.drained();
    return code;
  }
  tuneRuntime();
  if (CHANGING.includes(process.argv[2] ?? "")) {
    process.once("SIGINT", () => {
      err.write(INTERRUPTED);
      void err.drained().then(() => process.exit(EXIT.interrupted));
    });
  }
  const code = await runCommand({
    ...ofThisProcess(),
    ...(isExecutable() ? { commands: confiningCommands(systemCommands, process.execPath) } : {}),
    out: (text) => out.write(text),
    err: (text) => err.write(text),
  });
  const lost = await out.drained();
  if (lost !== undefined) err.write(`stackwright: could not write the output: ${lost.message}\n`);
  await err.drained();
  return lost === undefined ? code : EXIT.failed;
}

function ofThisProcess(): Omit<CommandIo, "out" | "err"> {
  return {
    args: process.argv.slice(2),
    env: ownEnvironment(),
    cwd: process.cwd(),
    interactive: process.stderr.isTTY === true,
    ...columnsOf(process.stdout),
    colours: seesColours(process.stdout.isTTY === true, process.env),
    redactor: createRedactor(),
    signal: new AbortController().signal,
  };
}

/** The width of a stream that is a terminal and knows it. */
function columnsOf({ isTTY, columns }: { readonly isTTY?: boolean; readonly columns?: number }) {
  return isTTY === true && columns !== undefined && columns > 0 ? { columns } : {};
}

/** Runs the command a command line names. Never throws: every failure is words and an exit code. */
export async function runCommand(plain: CommandIo): Promise<number> {
  const { redactor } = plain;
  const said = (text: string, about = EVERYONE) =>
    redactOutput(text, (each) => redactor.redact(each, about));
  const io: CommandIo = {
    ...plain,
    out: (text, about) => {
      const shown = said(text, about);
      plain.out(plain.colours === true ? visibleLines(shown) : visible(shown));
    },
    err: (text, about) => plain.err(visible(said(text, about))),
  };
  try {
    return await runNamed(io);
  } catch (error) {
    return complain(io, error);
  }
}

async function runNamed(io: CommandIo): Promise<number> {
  const [first, ...rest] = io.args;
  const [about] = rest;
  // `help plan` and `--help plan` are `plan --help`.
  const named = ["help", "--help", "-h"].includes(first ?? "") && about !== undefined &&
    !about.startsWith("-");
  const asksForHelp = named || io.args.includes("--help") || io.args.includes("-h");
  const name = named ? about : ["--version", "-V", "-v"].includes(first ?? "") ? "version" : first;
  const command = COMMANDS.find((each) => each.name === name);
  if (command === undefined) {
    if (name === undefined || name === "help" || name.startsWith("-") && asksForHelp) {
      return overview(io);
    }
    throw unknown(name);
  }
  const { help, run } = await command.load();
  if (!asksForHelp) return await run({ ...io, args: rest });
  io.out(`${command.summary}\n\n${help}`);
  return EXIT.ok;
}

function overview(io: CommandIo): number {
  const width = Math.max(...COMMANDS.map((each) => each.name.length));
  const lines = COMMANDS.map((each) => `  ${each.name.padEnd(width)}  ${each.summary}`);
  io.out(`Stackwright: GitOps for Docker Compose and Swarm.

Usage: stackwright COMMAND [options]

${lines.join("\n")}

  --help on every command tells more, --json makes its output JSON.
`);
  return EXIT.ok;
}

function unknown(name: string): StackwrightError {
  const near = nearestKey(name, COMMANDS.map((each) => each.name));
  const words = name.startsWith("-")
    ? `options come after a command, as in \`stackwright serve ${name}\``
    : `there is no command ${name}${near === undefined ? "" : `: did you mean ${near}?`}`;
  return errors.bad_request(`${words}; see stackwright --help`);
}

/** Whether the system refused something, such as a file that this user may not read. */
function isOfTheSystem(error: Error): boolean {
  return "syscall" in error && "code" in error;
}

/** Says what could not be done, for a person or as JSON; a bug of ours keeps its stack. */
function complain(io: CommandIo, error: unknown): number {
  const isOurs = isStackwrightError(error);
  const isBug = error instanceof Error && !isOurs && !isOfTheSystem(error);
  const message = isBug ? error.stack ?? error.message : messageOf(error);
  const problems = isOurs ? error.problems : [];
  if (io.args.includes("--json")) {
    const code = isOurs ? error.code : "internal";
    const more = problems.length === 0 ? {} : { problems };
    io.err(JSON.stringify({ error: { code, message, ...more } }) + "\n");
  } else {
    const further = problems.map(spoken).filter((each) => !message.includes(each));
    io.err([`stackwright: ${message}`, ...further].join("\n") + "\n");
  }
  return exitCodeOf(error);
}

/** A problem for a person, who gave an input by its name and not in a file `input`. */
function spoken(problem: Parameters<typeof formatProblem>[0]): string {
  return formatProblem(problem).replace(/^input: /, "");
}

function exitCodeOf(error: unknown): number {
  if (isStackwrightError(error, "settings_invalid")) return EXIT.configuration;
  if (isStackwrightError(error, "bad_request")) return EXIT.usage;
  return EXIT.failed;
}
