import { join } from "node:path";
import {
  type ComposeModel,
  type ErrorCode,
  isStackwrightError,
  messageOf,
  StackwrightError,
} from "../../model/mod.ts";
import type { Command, Commands, Limiter, Log } from "../../system/mod.ts";
import {
  type BuildArguments,
  buildArguments,
  type ComposeArguments,
  type ComposeProject,
  configArguments,
  pullArguments,
  type UpArguments,
  upArguments,
  VERSION_ARGUMENTS,
} from "./command.ts";
import { actingCall, dotenvText, renderVariables } from "./environment.ts";
import { type RegistryLogins, withRegistryLogins } from "./registry_logins.ts";
import {
  bindsSay,
  isObject,
  makesPathsByDefault,
  normalModel,
  withPlainKeys,
} from "../../compose/mod.ts";

/** One compose project, and the variables its commands run with. */
export interface ComposeCall {
  readonly project: ComposeProject;
  /** Variables for interpolation when it is rendered, then for the values of configs and secrets only. */
  readonly variables: Readonly<Record<string, string>>;
  /** Written to standard input where the project's file is `-`: rendered models never touch the disk. */
  readonly model?: ComposeModel;
  /**
   * Whether nothing that is rendered names a variable of Go's garbage collector, so that the program may
   * be started with some; false by default.
   */
  readonly collectsSeldom?: boolean;
}

/** Parts of {@link Compose}. */
export interface ComposeParts {
  readonly commands: Commands;
  /** The program that is called with `compose …`; `docker` where nobody knows better. */
  readonly findProgram?: () => Promise<string>;
  /** Variables the docker program itself needs, see `programEnvironment`. */
  readonly programEnvironment: Readonly<Record<string, string>>;
  readonly log: Log;
  /** Where variables are written that no program may be started with. */
  readonly scratch: {
    readonly files: RegistryLogins["files"];
    /** Beginning of the name of private directories. */
    readonly prefix: string;
  };
  /** Further credentials for registries, for what fetches images; see {@link withRegistryLogins}. */
  readonly logins?: Pick<RegistryLogins, "directory" | "logins">;
  /** Bounds how many projects are rendered at once; nothing does where there is none. */
  readonly rendering?: Limiter;
  /** Whether what programs print on their way is told at `debug` only (the default), not at `info`. */
  readonly quiet?: boolean;
  /** Told before each command that changes something on the engine. */
  readonly onMutation?: () => void;
}

/** Rendering reads files and nothing else; a compose that takes longer hangs, in milliseconds. */
const RENDER_LIMIT_MS = 120_000;
/**
 * Most that is read of a rendered project: a few lines can become gigabytes, as ranges of ports do. Twenty
 * thousand published ports are less.
 */
const RENDER_LIMIT_BYTES = 4 * 1024 * 1024;
/**
 * Memory for rendering: variables that repeat each other take all there is otherwise. 60 MiB are
 * usual.
 */
const RENDER_LIMIT_MEMORY = 1024 * 1024 * 1024;
/**
 * Time on processors for rendering: a few files that include each other several times over take
 * any time. A tenth of a second is usual.
 */
const RENDER_LIMIT_PROCESSOR_SECONDS = 30;
/**
 * Compose collects garbage some ten times while it starts and reads a usual project, a third of its time
 * on processors, and needs no less memory for that. A project can name these variables, and would get
 * the values.
 */
const COLLECTS_SELDOM = { GOGC: "400", GOMEMLIMIT: `${RENDER_LIMIT_MEMORY / 2}` } as const;

/** Runs `docker compose`. Each method waits for the program and may be called again at any time. */
export class Compose {
  readonly #parts: ComposeParts;
  #known: string | undefined;

  constructor(parts: ComposeParts) {
    this.#parts = parts;
  }

  /** Version of the compose plugin, such as `2.26.1`. Throws `command_failed` when there is none. */
  async version(signal: AbortSignal): Promise<string> {
    const result = await this.#parts.commands.run({
      argv: [await this.#program(), ...VERSION_ARGUMENTS],
      env: this.#parts.programEnvironment,
      timeoutMs: 10_000,
    }, signal);
    if (result.code !== 0) {
      throw new StackwrightError(
        "command_failed",
        `docker compose is not usable: ${
          lastLine(result.stderr)
        }; install the compose plugin 2.26 or newer`,
      );
    }
    return new TextDecoder().decode(result.stdout).trim();
  }

  /**
   * The same, asked for once: that of a program which was exchanged since may be another one. Empty where
   * it cannot be had.
   */
  async knownVersion(signal: AbortSignal): Promise<string> {
    this.#known ??= await this.version(signal).catch(() => undefined);
    signal.throwIfAborted();
    return this.#known ?? "";
  }

  /** Reads compose files as compose does. Throws `render_failed` with compose's own message. */
  async render(call: ComposeCall, signal: AbortSignal): Promise<ComposeModel> {
    const { rendering } = this.#parts;
    const work = () => this.#render(call, signal);
    const output = await (rendering?.run(work, signal) ?? work()).catch((error) => {
      throw isStackwrightError(error, "payload_too_large") ? tookTooMuch(error) : error;
    });
    let model: unknown;
    try {
      model = JSON.parse(output);
    } catch (cause) {
      throw new StackwrightError(
        "render_failed",
        `docker compose config printed no JSON: ${messageOf(cause)}`,
        { cause },
      );
    }
    if (!isObject(model)) {
      throw new StackwrightError("render_failed", "docker compose config printed no object");
    }
    return await this.#normal(withPlainKeys(model), signal);
  }

  /** Fetches images. Throws `pull_failed`. */
  async pull(call: ComposeCall, services: readonly string[], signal: AbortSignal): Promise<void> {
    await this.#act("pull_failed", call, pullArguments(call.project, services), signal);
  }

  /** Builds images. Throws `build_failed`. */
  async build(call: ComposeCall, build: BuildArguments, signal: AbortSignal): Promise<void> {
    await this.#act("build_failed", call, buildArguments(call.project, build), signal);
  }

  /** Makes and starts containers. Throws `deploy_failed`; some of them may have been changed then. */
  async up(
    call: ComposeCall,
    up: UpArguments & { readonly timeoutMs: number },
    signal: AbortSignal,
  ): Promise<void> {
    const args = upArguments(call.project, up);
    await this.#act("deploy_failed", call, args, signal, up.timeoutMs);
  }

  async #program(): Promise<string> {
    return await this.#parts.findProgram?.() ?? "docker";
  }

  /** Versions differ in what they leave out; which one it is matters rarely, and it costs a start to ask. */
  async #normal(model: ComposeModel, signal: AbortSignal): Promise<ComposeModel> {
    const said = bindsSay(model);
    const byDefault = said === "true" ||
      (said === "unclear" && makesPathsByDefault(await this.version(signal)));
    return normalModel(model, byDefault);
  }

  /** What compose prints of a project. Its files are looked for from its directory. */
  async #render(call: ComposeCall, signal: AbortSignal): Promise<string> {
    const { programEnvironment, scratch: { files, prefix } } = this.#parts;
    const program = await this.#program();
    const { environment, byFile } = renderVariables(programEnvironment, call.variables);
    const command = (envFiles: readonly string[]): Command => ({
      argv: [program, ...configArguments({ ...call.project, envFiles })],
      env: { ...environment, ...(call.collectsSeldom === true ? COLLECTS_SELDOM : {}) },
      // Versions of compose that take a path as relative to where they run find the same files.
      cwd: call.project.directory,
      endsWithUs: true,
      timeoutMs: RENDER_LIMIT_MS,
      mostBytes: RENDER_LIMIT_BYTES,
      mostMemory: RENDER_LIMIT_MEMORY,
      mostProcessorSeconds: RENDER_LIMIT_PROCESSOR_SECONDS,
      ...(call.model === undefined ? {} : { stdin: JSON.stringify(call.model) }),
    });
    const { envFiles } = call.project;
    if (Object.keys(byFile).length === 0) {
      return await this.#run("render_failed", call, command(envFiles), signal);
    }
    const directory = await files.makeTemporaryDirectory(prefix);
    try {
      const file = join(directory, "values.env");
      await files.write(file, dotenvText(byFile), { mode: 0o600 });
      // First for the other files, which may use the values, and last because these win.
      return await this.#run("render_failed", call, command([file, ...envFiles, file]), signal);
    } finally {
      await files.remove(directory);
    }
  }

  /** Changes something: with nothing of the repository but the model itself. */
  async #act(
    failure: ErrorCode,
    call: ComposeCall,
    args: ComposeArguments,
    signal: AbortSignal,
    timeoutMs?: number,
  ): Promise<void> {
    const { log, quiet, programEnvironment, onMutation, logins, scratch } = this.#parts;
    const progress = log.with({ stack: call.project.name });
    const tell = (line: string) => quiet === false ? progress.info(line) : progress.debug(line);
    const { model, environment } = actingCall(
      programEnvironment,
      call.variables,
      call.model ?? {},
    );
    const program = await this.#program();
    onMutation?.();
    const run = async (more: Readonly<Record<string, string>>) =>
      void await this.#run(failure, call, {
        argv: [program, ...args],
        env: { ...environment, ...more },
        endsWithUs: true,
        ...(timeoutMs === undefined ? {} : { timeoutMs }),
        stdin: JSON.stringify(model),
        onLine: (line: string) => line.trim() !== "" && tell(line.trim()),
      }, signal);
    if (logins === undefined) await run({});
    else await withRegistryLogins({ ...scratch, ...logins }, run);
  }

  async #run(
    failure: ErrorCode,
    call: ComposeCall,
    command: Command,
    signal: AbortSignal,
  ): Promise<string> {
    const result = await this.#parts.commands.run(command, signal);
    if (result.code !== 0) {
      const why = isOutOfMemory(result.stderr)
        ? TOOK_ALL_MEMORY
        : KILLED.has(result.code) && command.mostProcessorSeconds !== undefined
        ? TOOK_ALL_TIME
        : result.stderr;
      throw new StackwrightError(failure, explain(command.argv, asWritten(why, call.project)));
    }
    const log = this.#parts.log.with({ stack: call.project.name });
    for (const each of warnings(result.stderr)) log.warning(asWritten(each, call.project));
    return new TextDecoder().decode(result.stdout);
  }
}

/** What compose says with the paths of a repository as its authors know them. */
function asWritten(text: string, { trees = [] }: ComposeProject): string {
  return trees.reduce(
    (rest, tree) => rest.replaceAll(`${tree}/`, "").replaceAll(tree, "."),
    text,
  );
}

/** The error of a rendering that was ended for what it printed, or for its memory. */
function tookTooMuch(cause: StackwrightError): StackwrightError {
  const why = /memory/.test(cause.message) ? TOOK_ALL_MEMORY : PRINTS_TOO_MUCH;
  return new StackwrightError("render_failed", `docker compose config failed: ${why}`, { cause });
}

const PRINTS_TOO_MUCH =
  `the rendered project has more than ${RENDER_LIMIT_BYTES / 1024 ** 2} MiB; ` +
  "long ranges of ports, and values that are repeated many times over, make it so: publish fewer ports, " +
  "or give large values by files";

/** How the runtime of Go, and its threads, say that there is no memory. */
function isOutOfMemory(stderr: string): boolean {
  return /^(?:fatal error: .*(?:out of|allocate) memory|runtime\/cgo: pthread_create failed)/m
    .test(stderr);
}

const TOOK_ALL_MEMORY =
  `it needed more than ${RENDER_LIMIT_MEMORY / 1024 ** 2} MiB of memory, or the machine has none ` +
  "left; variables and files that repeat each other several times over do that: write them out, or " +
  "take out what repeats them";

/** By SIGKILL or SIGXCPU. */
const KILLED: ReadonlySet<number> = new Set([128 + 9, 128 + 24]);

const TOOK_ALL_TIME =
  `it was killed: it took more than ${RENDER_LIMIT_PROCESSOR_SECONDS} seconds of processor time, or the ` +
  "machine has no memory left; files that include or extend each other several times over do that: " +
  "include each of them once";

/** The lines in which compose says what went wrong, without its progress. */
function explain(args: ComposeArguments, stderr: string): string {
  const subcommand = args.find((each) => ["config", "pull", "build", "up"].includes(each));
  const lines = stderr.split("\n").map((line) => line.trimEnd()).filter((line) => line !== "");
  const telling = lines.filter((line) => !isProgress(line) && !/level=warning/.test(line));
  const text = withoutValue((telling.length > 0 ? telling : lines).slice(-15).join("\n"));
  return `docker compose ${subcommand} failed: ${text === "" ? "it gave no reason" : text}`;
}

/**
 * What cannot be interpolated is often a password with a dollar: the place is told, not the value.
 */
function withoutValue(text: string): string {
  return text.replace(/(You may need to escape any \$ with another \$\.)\n[^]*$/, "$1");
}

/** Of a password with a dollar, compose takes what follows for the name of a variable. */
function withoutValueInName(warning: string): string {
  return warning.replace(
    /(The ")([^"]+)(" variable is not set)/,
    (whole, before, name, after) =>
      /^(?:[A-Z][A-Z0-9_]*|[a-z][a-z_]*)$/.test(name)
        ? whole
        : `${before}***${after} (a dollar in a value is written $$)`,
  );
}

function isProgress(line: string): boolean {
  return /^\s*(?:Container|Network|Volume|Image) \S+\s+(?:Creat|Start|Recreat|Stop|Remov|Wait|Runn|Health|Exit|Pull)/
    .test(line) ||
    /^\s+\S+\s+(?:Pull|Skipped|Interrupted|Download|Extract|Waiting|Verifying)/.test(line) ||
    /^#\d+ (?:\[|DONE|CACHED|sha256|transferring|exporting|naming|writing|\d)/.test(line);
}

function warnings(stderr: string): string[] {
  return stderr.split("\n").filter((line) => /level=warning/.test(line)).map((line) =>
    /msg="((?:[^"\\]|\\.)*)"/.exec(line)?.[1]?.replaceAll('\\"', '"') ?? line
  ).map(withoutValueInName);
}

function lastLine(text: string): string {
  return text.trim().split("\n").at(-1) ?? "";
}
