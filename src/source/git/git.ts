import { join } from "node:path/posix";
import { isStackwrightError, type PollRound, type StackwrightError } from "../../model/mod.ts";
import {
  type Clock,
  type Command,
  type CommandResult,
  type Commands,
  createTurns,
  type Files,
  type HttpClient,
  type Limits,
  type Redactor,
  type Turns,
} from "../../system/mod.ts";
import type { GitAccess } from "./git_access.ts";
import {
  gitCommand,
  type GitInvocation,
  type GitSurroundings,
  withPlainMask,
} from "./git_command.ts";
import { gitError, tooLarge } from "./git_failure.ts";
import { GitMemory } from "./git_memory.ts";
import { removeStaleLocks } from "./mirror_locks.ts";
import type { RemoteRefs } from "./remote_refs.ts";
import type { RepositoryUrl } from "./repository_url.ts";
import { createSharedQuestions, type SharedQuestions } from "./shared_questions.ts";
import type { PackQuestion } from "./small_pack.ts";
import { SmartHttp } from "./smart_http.ts";
import { type GitResult, gitResult } from "./git_result.ts";

/** Processor seconds for a small pack received without git; after them git fetches instead. */
const SMALL_PACK_SECONDS = 30;

/** Limits of git commands. */
export interface GitOptions extends Omit<GitSurroundings, "home"> {
  /** Longest time of one exchange with a remote, in milliseconds. */
  readonly remoteTimeoutMs: number;
  /** Longest time of everything else, in milliseconds. */
  readonly localTimeoutMs: number;
  /** Attempts of one exchange when the network fails. */
  readonly attempts: number;
  /** Most bytes of one pack that a remote sends, and of all files of one tree; 0 is no limit. */
  readonly mostBytes: number;
  /** Memory limit of a git whose turn it is to have much of it; others have less. */
  readonly mostMemory: number;
  /** Seconds on processors that each program of a fetch may take; 0 is no limit. */
  readonly mostProcessorSeconds: number;
  /** Client that asks for references over HTTP; without it git asks. */
  readonly http: HttpClient | undefined;
}

/** Parts for running git. */
export interface GitParts {
  readonly commands: Commands;
  readonly clock: Clock;
  readonly files: Files;
  readonly redactor: Redactor;
  readonly access: GitAccess;
  readonly options: GitOptions;
}

interface RefsQuestion {
  readonly url: RepositoryUrl;
  readonly names: readonly string[];
  /** Questions of one round share one answer. */
  readonly round: PollRound | undefined;
}

const FIRST_PAUSE_MS = 250;
/** Milliseconds after which a failed attempt is not repeated: a silent host keeps others waiting. */
const LONG_MS = 20_000;

/** Default limit of bytes that a git may print: a remote can make it print for minutes. */
const MOST_PRINTED = 64 * 1024 * 1024;

/** The words of a remote that had too little. */
const OUT_OF_MEMORY = /\bOut of memory\b|died of signal 9\b/i;

/** Runs git commands in an isolated environment, with time limits, and classifies their failures. */
export class Git {
  /** Turns for work on long lists of references. */
  readonly turns: Turns;
  readonly #parts: GitParts;
  readonly #memory: GitMemory;
  readonly #smart: SmartHttp | undefined;
  readonly #questions: SharedQuestions<RemoteRefs> = createSharedQuestions();
  readonly #lists: SharedQuestions<readonly string[] | undefined> = createSharedQuestions();
  readonly #hints: SharedQuestions<string> = createSharedQuestions();

  constructor(parts: GitParts) {
    this.#parts = parts;
    const { options: { http, mostMemory }, access, clock } = parts;
    this.#memory = new GitMemory(mostMemory);
    this.turns = createTurns(clock);
    this.#smart = http === undefined ? undefined : new SmartHttp({ http, access, clock });
  }

  /**
   * Asks a remote for references with `ask`; callers with the same question share one answer. A poll does
   * not ask one that wants to be left alone: throws `repository_unreachable`.
   */
  async asking(
    question: RefsQuestion,
    ask: (signal: AbortSignal) => Promise<RemoteRefs>,
    signal: AbortSignal,
  ): Promise<RemoteRefs> {
    if (question.round !== undefined) this.#smart?.requireFree(question.url);
    return await this.#questions.ask(keyOf(question), signal, ask, question.round);
  }

  /** The same for the names of all branches and tags of a remote; `undefined` for too many. */
  async listing(
    { url, round }: Omit<RefsQuestion, "names">,
    list: (signal: AbortSignal) => Promise<readonly string[] | undefined>,
    signal: AbortSignal,
  ): Promise<readonly string[] | undefined> {
    return await this.#lists.ask(keyOf({ url, names: [] }), signal, list, round);
  }

  /** The same for advice about a reference that a remote lacks: hundreds may ask for it at once. */
  async hinting(
    question: RefsQuestion,
    make: (signal: AbortSignal) => Promise<string>,
    signal: AbortSignal,
  ): Promise<string> {
    return await this.#hints.ask(keyOf(question), signal, make, question.round);
  }

  /** A remote's references of these full names, by HTTP without git; `undefined` when only git can ask. */
  async refs(
    url: RepositoryUrl,
    names: readonly string[],
    signal: AbortSignal,
  ): Promise<RemoteRefs | undefined> {
    return await this.#smart?.ask(url, names, signal);
  }

  /**
   * Fetches a commit over HTTP into a repository that has an earlier one, without `git fetch`. When it
   * does not return `true`, nothing was added and git has to fetch: `false` when git refused the
   * received pack, `undefined` when no pack came.
   */
  async fetchPack(
    { url, gitDir, ...question }: PackQuestion & {
      readonly url: RepositoryUrl;
      readonly gitDir: string;
    },
    signal: AbortSignal,
  ): Promise<boolean | undefined> {
    const pack = await this.#smart?.pack(url, question, signal);
    if (pack === undefined) return undefined;
    // Strict refuses a pack whose commit lacks objects that it leads to.
    const args = ["index-pack", "--stdin", "--fix-thin", "--strict"];
    const command = gitCommand(await this.#surroundings(), { args, gitDir, stdin: pack });
    const { mostProcessorSeconds: most } = this.#parts.options;
    const seconds = Math.min(most || Infinity, SMALL_PACK_SECONDS);
    const bounds = { ...this.#bounds(), mostProcessorSeconds: seconds };
    const { failure } = await this.#run(
      { ...command, ...bounds },
      { args, gitDir, by: url.by },
      signal,
    );
    if (failure !== undefined) this.#smart?.leave(url);
    return failure === undefined;
  }

  /** Whether a remote gives a commit by its id over HTTP; false proves nothing, and git has to ask. */
  async gives(url: RepositoryUrl, id: string, signal: AbortSignal): Promise<boolean> {
    // Of a commit that we have already, nothing is sent.
    return await this.#smart?.pack(url, { want: id, have: id }, signal) !== undefined;
  }

  /** Time until which the host of a remote asked for no more requests; `undefined` for none. */
  heldUntil(url: RepositoryUrl): Date | undefined {
    return this.#smart?.heldUntil(url);
  }

  /** Runs a command that needs no remote. */
  async local(invocation: GitInvocation, signal: AbortSignal): Promise<GitResult> {
    const command = gitCommand(await this.#surroundings(), invocation);
    const { localTimeoutMs: timeoutMs } = this.#parts.options;
    return await this.#run({ ...command, timeoutMs }, invocation, signal);
  }

  /** Like {@link local}, for commands that write files for others to read. */
  async exporting(invocation: GitInvocation, signal: AbortSignal): Promise<GitResult> {
    const command = withPlainMask(gitCommand(await this.#surroundings(), invocation));
    const { localTimeoutMs: timeoutMs } = this.#parts.options;
    return await this.#run({ ...command, timeoutMs }, invocation, signal);
  }

  /** Talks to a remote, again after a pause of 250 ms and then 500 ms when the network fails. */
  async remote(
    url: RepositoryUrl,
    invocation: GitInvocation,
    signal: AbortSignal,
  ): Promise<GitResult> {
    const access = await this.#parts.access.forRemote(url, signal);
    try {
      const command = gitCommand(await this.#surroundings(), { ...invocation, access });
      const bounds = { ...this.#bounds(), ...this.#growth(access.scheme, invocation.gitDir) };
      const { secrets = [] } = access;
      return await this.#patiently(
        { ...command, ...bounds },
        { ...invocation, access, by: url.by },
        secrets,
        signal,
      );
    } finally {
      await access.release?.();
    }
  }

  async #patiently(
    command: Command,
    invocation: GitInvocation,
    secrets: readonly string[],
    signal: AbortSignal,
  ): Promise<GitResult> {
    const { clock, options } = this.#parts;
    for (let attempt = 1;; attempt++) {
      const began = clock.now().getTime();
      const result = await this.#run(command, invocation, signal, secrets).catch((error) => {
        const isLarge = command.mostGrowth && isStackwrightError(error, "payload_too_large");
        throw isLarge ? tooLarge(options) : error;
      });
      if (result.failure === "too_large") throw tooLarge(options);
      const isLast = attempt >= options.attempts || clock.now().getTime() - began > LONG_MS;
      if (result.failure !== "transient" || isLast) return result;
      await clock.sleep(FIRST_PAUSE_MS * 2 ** (attempt - 1), signal);
    }
  }

  /** Limits of a program that receives data from a remote. */
  #bounds(): Pick<Command, "timeoutMs" | keyof Limits> {
    const { remoteTimeoutMs, mostBytes, mostProcessorSeconds } = this.#parts.options;
    return {
      timeoutMs: remoteTimeoutMs,
      ...(mostProcessorSeconds === 0 ? {} : { mostProcessorSeconds }),
      // A fetch writes one pack, so the kernel's limit on the size of a file bounds the fetch.
      ...(mostBytes === 0 ? {} : { mostFileBytes: mostBytes }),
    };
  }

  /** A server of plain files may send any number of files, which the limit per file does not bound. */
  #growth(scheme: string, gitDir: string | undefined): Pick<Command, "mostGrowth"> {
    const { mostBytes } = this.#parts.options;
    const isBounded = gitDir !== undefined && mostBytes > 0 && /^https?$/.test(scheme);
    return isBounded ? { mostGrowth: { directory: join(gitDir, "objects"), mostBytes } } : {};
  }

  /** Starts a program that answers questions about one repository. */
  async start(invocation: GitInvocation) {
    const command = gitCommand(await this.#surroundings(), invocation);
    const { gitDir = "", isLarge = false } = invocation;
    const bounds = this.#memory.forAnswers(gitDir, isLarge);
    return this.#parts.commands.start({ ...command, ...bounds });
  }

  /** The error of a failed command; `doing` says what was tried, on what. */
  error(result: GitResult, doing: string): StackwrightError {
    return gitError({ doing, failure: result.failure ?? "other", stderr: result.stderr });
  }

  /** Runs a program; only one that talks to a remote has `secrets`, even if none. */
  async #run(
    command: Command,
    { args, gitDir, by = gitDir, indexFile, access, isLarge = false, argsAgain = args }:
      GitInvocation,
    signal: AbortSignal,
    secrets?: readonly string[],
  ): Promise<GitResult> {
    const { clock, files } = this.#parts;
    // File times lag behind the clock by a tick.
    const began = new Date(clock.now().getTime() - 50);
    const own = command.argv.length - args.length;
    const [program, ...rest] = command.argv;
    const argv: Command["argv"] = [program, ...rest.slice(0, own - 1), ...argsAgain];
    const isRemote = secrets !== undefined;
    return await this.#memory.run({
      ...{ who: by ?? "", isLittle: gitDir === undefined, isRemote, isLarge },
      // A remote on this machine is a program within these bounds, too.
      isShort: ({ failure, stderr }) =>
        failure === "memory" || access?.scheme === "file" && OUT_OF_MEMORY.test(stderr),
      run: async (bounds, isAgain) => {
        // What one that was killed left would keep the next one from its work.
        if (isAgain && indexFile !== undefined) await files.remove(`${indexFile}.lock`);
        if (isAgain && isRemote && gitDir !== undefined) {
          await removeStaleLocks(files, gitDir, (madeAt) => madeAt >= began);
        }
        return await this.#once({ ...command, ...isAgain && { argv }, ...bounds }, signal, secrets);
      },
    }, signal);
  }

  async #once(
    command: Command,
    signal: AbortSignal,
    secrets?: readonly string[],
  ): Promise<GitResult> {
    const bounded = { mostBytes: MOST_PRINTED, ...command };
    const result: CommandResult = await this.#parts.commands.run(bounded, signal);
    return gitResult(result, secrets, this.#parts.redactor);
  }

  async #surroundings(): Promise<GitSurroundings> {
    const { access, options } = this.#parts;
    return { git: options.git, path: options.path, home: await access.home() };
  }
}

function keyOf({ url, names }: Pick<RefsQuestion, "url" | "names">): string {
  return JSON.stringify([url.remote, url.user, url.password, ...names]);
}
