import { execFile } from "node:child_process";
import { chmod, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import process from "node:process";
import { promisify } from "node:util";

/** A `docker` program that writes down what it was called with and then is the real one. */
export interface CountingDocker {
  /** Value of `PATH` that finds it first. */
  readonly path: string;
  /** The compose subcommands called since the last time, in order; asking for the version is none. */
  take(): Promise<string[]>;
  close(): Promise<void>;
}

const SUBCOMMANDS = ["config", "pull", "build", "up"];

/** Puts a counting `docker` into a directory of its own. */
export async function createCountingDocker(): Promise<CountingDocker> {
  const directory = await mkdtemp(join(tmpdir(), "swt-docker-"));
  const real = (await promisify(execFile)("which", ["docker"])).stdout.trim();
  const record = join(directory, "calls");
  const program = join(directory, "docker");
  await writeFile(record, "");
  await writeFile(program, `#!/bin/sh\necho "$*" >> '${record}'\nexec '${real}' "$@"\n`);
  await chmod(program, 0o755);
  return {
    path: `${directory}${delimiter}${process.env["PATH"] ?? ""}`,
    async take() {
      const lines = (await readFile(record, "utf8")).split("\n");
      await writeFile(record, "");
      return lines.flatMap((line) => line.split(" ").filter((each) => SUBCOMMANDS.includes(each)));
    },
    close: () => rm(directory, { recursive: true, force: true }),
  };
}
