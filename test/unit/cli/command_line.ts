import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { runCommand } from "../../../src/cli/mod.ts";
import { createRedactor } from "../../../src/system/mod.ts";

/** The name of every command. */
export const COMMANDS = [
  "serve",
  "validate",
  "schema",
  "openapi",
  "status",
  "plan",
  "apply",
  "explain",
  "history",
  "diff",
  "rollback",
  "retry",
  "hold",
  "resume",
  "unpin",
  "doctor",
  "adopt",
  "forget",
  "healthcheck",
  "completion",
  "version",
] as const;

/** What a command line printed, and its exit code. */
export interface Ended {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Where a command line runs. */
export interface Surroundings {
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** The width of its terminal; none without it. */
  readonly columns?: number;
}

/** Runs a command line to its end, with nobody watching. */
export async function run(
  args: readonly string[],
  { env = {}, cwd = "/", columns }: Surroundings = {},
): Promise<Ended> {
  const said = { out: "", err: "" };
  const code = await runCommand({
    args,
    env,
    cwd,
    ...(columns === undefined ? {} : { columns }),
    out: (text) => void (said.out += text),
    err: (text) => void (said.err += text),
    interactive: false,
    redactor: createRedactor(),
    signal: new AbortController().signal,
  });
  return { code, ...said };
}

/** Runs `work` in a directory with the given files; it is removed afterwards. */
export async function withFiles<T>(
  files: Readonly<Record<string, string>>,
  work: (directory: string) => Promise<T>,
): Promise<T> {
  const directory = await mkdtemp(join(tmpdir(), "swt-cli-"));
  try {
    for (const [path, text] of Object.entries(files)) {
      await mkdir(dirname(join(directory, path)), { recursive: true });
      await writeFile(join(directory, path), text);
    }
    return await work(directory);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}
