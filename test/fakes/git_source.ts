import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import type { Revision } from "../../src/model/mod.ts";
import {
  createGitSource,
  type GitCredentials,
  type GitSourceOptions,
  type GitSourceWithTrees,
  sourceLocation,
} from "../../src/source/mod.ts";
import {
  type Clock,
  type Command,
  type Commands,
  createHttpClient,
  createRedactor,
  type Files,
  type HttpClient,
  type Log,
  type Redactor,
  systemClock,
  systemCommands,
  systemFiles,
} from "../../src/system/mod.ts";

/** A Git source on real files and real git, which tells what it ran. */
export interface TestSource {
  readonly source: GitSourceWithTrees;
  /** New temporary directory that everything lies below. */
  readonly directory: string;
  readonly dataDir: string;
  readonly redactor: Redactor;
  /** Commands in the order they were started. */
  readonly commands: Command[];
  /** Warnings in the order they were logged. */
  readonly warnings: string[];
  /** The revision a reference of a URL names now. */
  resolve(url: string, reference: string, depth?: number): Promise<Revision>;
  /** Directory of the mirror of a URL, whether or not it exists. */
  mirror(url: string): string;
  /** How many commands of a kind (`fetch`, `ls-remote`) were started so far. */
  count(verb: string): number;
  /** Another source, as a restarted process would have it, on the same data directory. */
  again(): TestSource;
  close(): Promise<void>;
}

/** What differs between tests. */
export interface TestSourceOptions {
  /** What time it is; the system's by default. */
  readonly now?: () => Date;
  /** Also what time passes; pauses of up to a second pass at once without it. */
  readonly clock?: Clock;
  readonly credentials?: Partial<GitCredentials>;
  readonly options?: Partial<GitSourceOptions>;
  readonly dataDir?: string;
  readonly lender?: string;
  /** The free space; that of the real disk by default. */
  readonly room?: Files["room"];
}

/** A signal that never fires. */
export function never(): AbortSignal {
  return new AbortController().signal;
}

/** Makes a Git source for a test; pauses between attempts are not waited for. */
export async function createTestSource(options: TestSourceOptions = {}): Promise<TestSource> {
  return build(await mkdtemp(join(tmpdir(), "swt-git-")), options);
}

function build(directory: string, settings: TestSourceOptions): TestSource {
  const dataDir = settings.dataDir ?? join(directory, "data");
  const redactor = createRedactor();
  const started: Command[] = [];
  const warnings: string[] = [];
  const http = httpClient(settings.options);
  const source = createGitSource({
    commands: recording(started),
    files: { ...systemFiles, ...settings.room && { room: settings.room } },
    clock: settings.clock ?? { ...impatientClock, now: settings.now ?? impatientClock.now },
    log: warningLog(warnings),
    redactor,
    dataDir,
    ...(settings.lender === undefined ? {} : { lender: settings.lender }),
    credentials: { domains: [], global: {}, tokenHosts: [], ...settings.credentials },
    options: {
      path: process.env["PATH"] ?? "/usr/bin:/bin",
      temporaryPrefix: `${directory}/stackwright-git-`,
      http,
      ...settings.options,
    },
  });
  return {
    source,
    directory,
    dataDir,
    redactor,
    commands: started,
    warnings,
    resolve: (url, reference, depth = 0) =>
      source.resolve({ location: sourceLocation("git", url), reference, depth }, never()),
    mirror: (url) => source.mirrors.pathOf(sourceLocation("git", url)) ?? "",
    count: (verb) => started.filter(({ argv }) => argv.includes(verb)).length,
    again: () => build(directory, settings),
    close: async () => {
      await source.close();
      http.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** As the service has it: with the same proxies and certificates as git. */
function httpClient(
  { httpProxy = "", httpsProxy = "", noProxy = "", caFile = "" }: Partial<GitSourceOptions> = {},
): HttpClient {
  return createHttpClient({
    proxy: {
      http: httpProxy || undefined,
      https: httpsProxy || undefined,
      noProxy: noProxy === "" ? [] : noProxy.split(","),
    },
    caCertificates: caFile === "" ? undefined : readFileSync(caFile, "utf8"),
  });
}

function recording(started: Command[]): Commands {
  return {
    run: (command, signal) => {
      started.push(command);
      return systemCommands.run(command, signal);
    },
    start: (command) => {
      started.push(command);
      return systemCommands.start(command);
    },
  };
}

/** Pauses of up to a second pass at once; longer waits are those of idle readers. */
const impatientClock: Clock = {
  now: () => new Date(),
  uptime: systemClock.uptime,
  sleep: (milliseconds, signal) =>
    systemClock.sleep(milliseconds <= 1000 ? 0 : milliseconds, signal),
};

function warningLog(warnings: string[]): Log {
  const log: Log = {
    debug() {},
    info() {},
    warning: (message) => void warnings.push(message),
    error() {},
    critical() {},
    with: () => log,
  };
  return log;
}
