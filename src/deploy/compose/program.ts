import { join } from "node:path";
import {
  type ComposeModel,
  type ErrorCode,
  errors,
  isStackwrightError,
  jsonForYaml,
  messageOf,
  utf8,
  withoutBuiltNames,
} from "../../model/mod.ts";
import { type Command, type Lend, withTemporaryDirectory } from "../../system/mod.ts";
import {
  type BuildArguments,
  buildArguments,
  type ComposeArguments,
  configArguments,
  pullArguments,
  type UpArguments,
  upArguments,
  VERSION_ARGUMENTS,
} from "./command.ts";
import { actingCall, dotenvText, renderVariables } from "./environment.ts";
import { limitedOutput } from "./limited_output.ts";
import { withOwnBuilders } from "./own_builders.ts";
import { withOwnDockerfiles } from "./own_dockerfiles.ts";
import { withRegistryLogins } from "./registry_logins.ts";
import {
  bindsSay,
  buildsByBuildx,
  isObject,
  type JsonObject,
  makesPathsByDefault,
  normalModel,
  withPlainKeys,
} from "../../compose/mod.ts";
import {
  asWritten,
  failureOf,
  lastLine,
  notingLong,
  tookTooMuch,
  warnings,
} from "./compose_failure.ts";
import {
  RENDER_LIMIT_BYTES,
  RENDER_LIMIT_MEMORY,
  RENDER_LIMIT_MS,
  RENDER_LIMIT_PROCESSOR_SECONDS,
} from "./render_limits.ts";
import type { ComposeCall, ComposeParts } from "./compose_parts.ts";

/**
 * Garbage collector settings: by default Go collects some ten times while compose starts and reads
 * a usual project, a third of its processor time, without needing less memory. Not for projects
 * that name these variables: interpolation would yield these values.
 */
const COLLECTS_SELDOM = { GOGC: "400", GOMEMLIMIT: `${RENDER_LIMIT_MEMORY / 2}` } as const;

/** Rendering asks nothing of docker's configuration, in which credentials of registries stand. */
const NO_CLIENT_CONFIGURATION = { DOCKER_CONFIG: "/nonexistent" } as const;

/** Bytes kept of the end of compose's output while it acts, for an error message. */
const KEPT_BYTES = 1024 * 1024;

/** Runs `docker compose`. Each method waits for the program and may be called again at any time. */
export class Compose {
  readonly #parts: ComposeParts;
  readonly #known: { version?: string | undefined };

  constructor(parts: ComposeParts, known = {}) {
    this.#parts = parts;
    this.#known = known;
  }

  /**
   * The same program for the work of a source, which waits for renderings by `lend`: sources take turns, and
   * one whose projects take long keeps nobody's slot.
   */
  lending(lend: Lend, who: string): Compose {
    return new Compose({ ...this.#parts, renders: { lend, who } }, this.#known);
  }

  /** Version of the compose plugin, such as `2.26.1`. Throws `command_failed` when there is none. */
  async version(signal: AbortSignal): Promise<string> {
    const result = await this.#parts.commands.run({
      argv: [await this.#program(), ...VERSION_ARGUMENTS],
      env: this.#parts.programEnvironment,
      timeoutMs: 10_000,
    }, signal);
    if (result.code !== 0) {
      throw errors.command_failed(
        `docker compose is not usable: ${lastLine(result.stderr)}; install the compose plugin ` +
          "2.26 or newer",
      );
    }
    return utf8(result.stdout).trim();
  }

  /** The version as asked once; empty when unknown. A program replaced since may have another. */
  async knownVersion(signal: AbortSignal): Promise<string> {
    this.#known.version ??= await this.version(signal).catch(() => undefined);
    signal.throwIfAborted();
    return this.#known.version ?? "";
  }

  /** Whether the program is started with a variable of our own, which compose files can interpolate. */
  hasOwn(name: string): boolean {
    return this.#parts.programEnvironment[name] !== undefined;
  }

  /** Reads compose files as compose does. Throws `render_failed` with compose's own message. */
  async render(call: ComposeCall, signal: AbortSignal): Promise<ComposeModel> {
    const { rendering, renders } = this.#parts;
    const work = () => notingLong(() => this.#render(call, signal));
    const inTurn = () => rendering?.run(renders?.who ?? "", work, signal) ?? work();
    const output = await (renders?.lend([], inTurn) ?? inTurn());
    return await this.#normal(withPlainKeys(modelIn(output)), signal);
  }

  /** Fetches images; `heard` gets each line of its progress. Throws `pull_failed`. */
  async pull(
    call: ComposeCall,
    services: readonly string[],
    signal: AbortSignal,
    heard?: (line: string) => void,
  ): Promise<void> {
    const more = heard === undefined ? {} : { onLine: heard };
    await this.#act("pull_failed", call, pullArguments(call.project, services), signal, more);
  }

  /** Builds images. Throws `build_failed`. */
  async build(call: ComposeCall, build: BuildArguments, signal: AbortSignal): Promise<void> {
    await this.#requireBuilder(signal);
    // TMPDIR is private: compose leaves every inline Dockerfile there.
    const { programEnvironment: env, scratch: { files, prefix } } = this.#parts;
    await withTemporaryDirectory(files, prefix, async (directory) => {
      const args = buildArguments(call.project, build);
      const more = {
        // A policy beside a Dockerfile may read files below the working directory of buildx.
        cwd: call.project.directory,
        env: { TMPDIR: directory, ...await withOwnBuilders(files, env, join(directory, "buildx")) },
      };
      const model = await withOwnDockerfiles(files, call.model ?? {}, directory);
      await this.#act("build_failed", { ...call, model }, args, signal, more);
    });
  }

  /**
   * Refuses to build with the engine's classic builder, as compose 5 does without buildx: that makes
   * containers with the labels of the Dockerfile, which pass for containers of other stacks.
   */
  async #requireBuilder(signal: AbortSignal): Promise<void> {
    const { hasBuildx } = this.#parts;
    if (hasBuildx === undefined || await hasBuildx()) return;
    const version = await this.version(signal);
    if (!buildsByBuildx(version)) return;
    throw errors.build_failed(
      `docker compose ${version} builds images with docker's plugin buildx, which is not installed; ` +
        "nothing was touched, install it (docker-buildx, docker-buildx-plugin) and deploy again",
    );
  }

  /** Makes and starts containers. Throws `deploy_failed`; some of them may have been changed then. */
  async up(
    call: ComposeCall,
    up: UpArguments & { readonly timeoutMs: number },
    signal: AbortSignal,
  ): Promise<void> {
    const args = upArguments(call.project, up);
    await this.#act("deploy_failed", call, args, signal, { timeoutMs: up.timeoutMs });
  }

  async #program(): Promise<string> {
    return await this.#parts.findProgram?.() ?? "docker";
  }

  /** Fills in what versions leave out; asks for the version, a start, only where it matters. */
  async #normal(model: ComposeModel, signal: AbortSignal): Promise<ComposeModel> {
    const said = bindsSay(model);
    const byDefault = said === "true" ||
      (said === "unclear" && makesPathsByDefault(await this.version(signal)));
    return normalModel(model, byDefault);
  }

  /** The output of `compose config`, run in the project's directory. */
  async #render(call: ComposeCall, signal: AbortSignal): Promise<string> {
    const { programEnvironment, scratch: { files, prefix } } = this.#parts;
    const program = await this.#program();
    const { environment, byFile } = renderVariables(programEnvironment, call.variables);
    const { directory: place, tree = place, files: composeFiles } = call.project;
    const command = (envFiles: readonly string[]): Command => ({
      argv: [program, ...configArguments({ ...call.project, envFiles })],
      env: {
        ...environment,
        ...(program === "docker" ? {} : NO_CLIENT_CONFIGURATION),
        ...(call.collectsSeldom === true ? COLLECTS_SELDOM : {}),
      },
      // Of the configuration's checkout, in which others' decrypted files may lie, dotenv files alone.
      mayRead: [place, tree, ...composeFiles, ...envFiles].filter((path) => path !== "-"),
      // Some versions of compose resolve paths against the working directory.
      cwd: call.project.directory,
      endsWithUs: true,
      timeoutMs: RENDER_LIMIT_MS,
      mostBytes: RENDER_LIMIT_BYTES,
      mostMemory: RENDER_LIMIT_MEMORY,
      mostProcessorSeconds: RENDER_LIMIT_PROCESSOR_SECONDS,
      ...(call.model === undefined ? {} : { stdin: jsonForYaml(call.model) }),
    });
    const { envFiles } = call.project;
    if (Object.keys(byFile).length === 0) {
      return await this.#run("render_failed", call, command(envFiles), signal);
    }
    return await withTemporaryDirectory(files, prefix, async (directory) => {
      const file = join(directory, "values.env");
      await files.write(file, dotenvText(byFile), { mode: 0o600 });
      // First, so that the other files may use the values, and last, because these values win.
      return await this.#run("render_failed", call, command([file, ...envFiles, file]), signal);
    });
  }

  /** Runs a command that changes something; of the repository it gets the model alone. */
  async #act(
    failure: ErrorCode,
    call: ComposeCall,
    args: ComposeArguments,
    signal: AbortSignal,
    more: Partial<Pick<Command, "cwd" | "env" | "timeoutMs" | "onLine">> = {},
  ): Promise<void> {
    const { log, quiet, programEnvironment, onMutation, logins, scratch } = this.#parts;
    const progress = log.with({ stack: call.project.name });
    const tell = (line: string) => {
      const told = withoutBuiltNames(line);
      return quiet === false ? progress.info(told) : progress.debug(told);
    };
    const makesContainers = failure === "deploy_failed";
    const { model, environment } = actingCall(
      programEnvironment,
      call.variables,
      call.model ?? {},
      { makesContainers },
    );
    const program = await this.#program();
    const logged = limitedOutput(tell);
    onMutation?.();
    const run = async (forLogins: Readonly<Record<string, string>>) =>
      void await this.#run(failure, call, {
        argv: [program, ...args],
        endsWithUs: true,
        mostMemory: RENDER_LIMIT_MEMORY,
        ...more,
        env: { ...environment, ...more.env, ...forLogins },
        stdin: jsonForYaml(model),
        // An image decides what its build prints, without limit.
        keptBytes: KEPT_BYTES,
        onLine: (line) => {
          more.onLine?.(line);
          logged(line);
        },
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
    const result = await this.#parts.commands.run(command, signal).catch((error) => {
      throw isStackwrightError(error, "payload_too_large") ? tookTooMuch(failure, error) : error;
    });
    await call.requireSame?.();
    if (result.code !== 0) {
      throw failureOf(failure, { result, command, project: call.project, model: call.model });
    }
    const log = this.#parts.log.with({ stack: call.project.name });
    for (const each of warnings(result.stderr)) log.warning(asWritten(each, call.project));
    return utf8(result.stdout);
  }
}

function modelIn(output: string): JsonObject {
  let model: unknown;
  try {
    model = JSON.parse(output);
  } catch (cause) {
    const why = `docker compose config printed no JSON: ${messageOf(cause)}`;
    throw errors.render_failed(why, { cause });
  }
  if (isObject(model)) return model;
  throw errors.render_failed("docker compose config printed no object");
}
