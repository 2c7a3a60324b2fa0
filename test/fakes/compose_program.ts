import { join } from "node:path";
import process from "node:process";
import { Compose } from "../../src/deploy/mod.ts";
import { systemCommands, systemFiles } from "../../src/system/mod.ts";
import type { ComposeCommand } from "./compose_command.ts";
import { createRecordingLog } from "./recording_log.ts";

/** Our compose, with the plugin of `command`; `directory` is its home, and has its scratch files. */
export function createComposeProgram(
  { configDirectory }: Pick<ComposeCommand, "configDirectory">,
  directory: string,
  env: Readonly<Record<string, string>> = {},
): Compose {
  return new Compose({
    commands: systemCommands,
    programEnvironment: {
      PATH: process.env["PATH"] ?? "",
      HOME: directory,
      DOCKER_CONFIG: configDirectory,
      ...env,
    },
    log: createRecordingLog(),
    scratch: { files: systemFiles, prefix: join(directory, "scratch-") },
  });
}
