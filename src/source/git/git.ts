import { join } from "node:path/posix";
import { isStackwrightError, type PollRound, type StackwrightError } from "../../model/mod.ts";
import {
  type Clock,
  type Command,
  type CommandResult,
  type Commands,
  createRedactor,
  createTurns,
  type HttpClient,
  type Limits,
  LONGEST_SAID,
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
import { classifyFailure, gitError, lostHostKey, tooLarge } from "./git_failure.ts";
import type { RemoteRefs } from "./remote_refs.ts";
import type { RepositoryUrl } from "./repository_url.ts";
import { createSharedQuestions, type SharedQuestions } from "./shared_questions.ts";
import type { PackQuestion } from "./small_pack.ts";
import { SmartHttp } from "./smart_http.ts";
import type { GitResult } from "./git_result.ts";

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
  /** Memory limit of a git that talks to a remote, which could list references without end. */
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

/** Characters dropped from the beginning of a cut text: the cut may have split a secret. */
const LONGEST_SECRET = 64 * 1024;

/** Runs git commands in an isolated environment, with time limits, and classifies their failures. */
export class Git {
  /** Turns for work on long lists of references. */
  readonly turns: Turns;
  readonly #parts: GitParts;
  readonly #smart: SmartHttp | undefined;
  readonly #questions: SharedQuestions<RemoteRefs> = createSharedQuestions();
  readonly #lists: SharedQuestions<readonly string[] | undefined> = createSharedQuestions();
  readonly #hints: SharedQuestions<string> = createSharedQuestions();

  constructor(parts: GitParts) {
    this.#parts = parts;
    const { options: { http }, access, clock } = parts;
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
    const { failure } = await this.#run({ ...command, ...bounds }, signal);
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
    return await this.#run({ ...command, ...this.#localBounds() }, signal);
  }

  /** Like {@link local}, for commands that write files for others to read. */
  async exporting(invocation: GitInvocation, signal: AbortSignal): Promise<GitResult> {
    const command = withPlainMask(gitCommand(await this.#surroundings(), invocation));
    return await this.#run({ ...command, ...this.#localBounds() }, signal);
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
      return await this.#patiently({ ...command, ...bounds }, access.secrets ?? [], signal);
    } finally {
      await access.release?.();
    }
  }

  async #patiently(
    command: Command,
    secrets: readonly string[],
    signal: AbortSignal,
  ): Promise<GitResult> {
    const { clock, options } = this.#parts;
    for (let attempt = 1;; attempt++) {
      const began = clock.now().getTime();
      const result = await this.#run(command, signal, secrets).catch((error) => {
        const isLarge = command.mostGrowth && isStackwrightError(error, "payload_too_large");
        throw isLarge ? tooLarge(options) : error;
      });
      if (result.failure === "too_large") throw tooLarge(options);
      const isLast = attempt >= options.attempts || clock.now().getTime() - began > LONG_MS;
      if (result.failure !== "transient" || isLast) return result;
      await clock.sleep(FIRST_PAUSE_MS * 2 ** (attempt - 1), signal);
    }
  }

  /** Limits of a program that works on what was received. */
  #localBounds(): Pick<Command, "timeoutMs" | "mostMemory"> {
    const { localTimeoutMs, mostMemory } = this.#parts.options;
    return { timeoutMs: localTimeoutMs, mostMemory };
  }

  /** Limits of a program that receives data from a remote. */
  #bounds(): Pick<Command, "timeoutMs" | keyof Limits> {
    const { remoteTimeoutMs, mostBytes, mostMemory, mostProcessorSeconds } = this.#parts.options;
    return {
      timeoutMs: remoteTimeoutMs,
      mostMemory,
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

  /** Starts a program that answers questions about one repository, within the memory of those that fetch. */
  async start(invocation: GitInvocation) {
    const { mostMemory } = this.#parts.options;
    const command = gitCommand(await this.#surroundings(), invocation);
    return this.#parts.commands.start({ ...command, mostMemory });
  }

  /** The error of a failed command; `doing` says what was tried, on what. */
  error(result: GitResult, doing: string): StackwrightError {
    return gitError({ doing, failure: result.failure ?? "other", stderr: result.stderr });
  }

  /** Runs a program; only one that talks to a remote has `secrets`, even if none. */
  async #run(
    command: Parameters<Commands["run"]>[0],
    signal: AbortSignal,
    secrets?: readonly string[],
  ): Promise<GitResult> {
    const bounded = { mostBytes: MOST_PRINTED, ...command };
    const result: CommandResult = await this.#parts.commands.run(bounded, signal);
    const said = result.stderr.slice(-LONGEST_SAID);
    const failure = result.code !== 0
      ? classifyFailure(said, secrets !== undefined)
      : lostHostKey(result.stderr)
      ? "unkept_host_key"
      : undefined;
    const redacted = this.#parts.redactor.redact(without(secrets ?? [], said));
    // The redactor does not recognise a secret that the cut split.
    const stderr = said.length < result.stderr.length ? redacted.slice(LONGEST_SECRET) : redacted;
    return { stdout: result.stdout, stderr, failure, code: result.code };
  }

  async #surroundings(): Promise<GitSurroundings> {
    const { access, options } = this.#parts;
    return { git: options.git, path: options.path, home: await access.home() };
  }
}

/**
 * A text without the secrets of one command. They stay out of the shared redactor: authors of URLs
 * would decide what is masked everywhere, and each secret would be kept for ever.
 */
function without(secrets: readonly string[], text: string): string {
  if (secrets.length === 0 || text === "") return text;
  const own = createRedactor();
  for (const each of secrets) own.add(each);
  return own.redact(text);
}

function keyOf({ url, names }: Pick<RefsQuestion, "url" | "names">): string {
  return JSON.stringify([url.remote, url.user, url.password, ...names]);
}
