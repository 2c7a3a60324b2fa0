import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { findComposeProgram } from "../../src/deploy/mod.ts";
import { systemFiles } from "../../src/system/mod.ts";
import { composePlugins } from "../fakes/compose_command.ts";

/** A compose plugin that writes down what it was called with and then is the real one. */
export interface CountingCompose {
  /** Value of `DOCKER_CONFIG` that selects it. */
  readonly configDirectory: string;
  /** The compose subcommands called since the last time, in order; asking for the version is none. */
  take(): Promise<string[]>;
  close(): Promise<void>;
}

const SUBCOMMANDS = ["config", "pull", "build", "up"];

/** Puts a counting plugin into a configuration directory of its own. */
export async function createCountingCompose(): Promise<CountingCompose> {
  const configDirectory = await mkdtemp(join(tmpdir(), "swt-compose-"));
  const real = composePlugins()[0] || await findComposeProgram(systemFiles, process.env);
  const record = join(configDirectory, "calls");
  const program = join(configDirectory, "cli-plugins/docker-compose");
  await mkdir(join(configDirectory, "cli-plugins"));
  await writeFile(record, "");
  await writeFile(program, `#!/bin/sh\necho "$*" >> '${record}'\nexec '${real}' "$@"\n`);
  await chmod(program, 0o755);
  return {
    configDirectory,
    async take() {
      const lines = (await readFile(record, "utf8")).split("\n");
      await writeFile(record, "");
      return lines.flatMap((line) => line.split(" ").filter((each) => SUBCOMMANDS.includes(each)));
    },
    close: () => rm(configDirectory, { recursive: true, force: true }),
  };
}
