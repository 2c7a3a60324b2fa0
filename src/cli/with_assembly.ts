import { assemble, type Assembly, type AssemblyOptions, type System } from "../app.ts";
import type { Settings } from "../settings/mod.ts";
import { createLog, systemClock, systemCommands, systemFiles } from "../system/mod.ts";
import type { CommandIo } from "./io.ts";
import { settingsOf } from "./settings_of.ts";
import { VERSION } from "./version.ts";

/** What a command that looks at stacks works with. */
export interface Workplace {
  readonly settings: Settings;
  readonly system: System;
  readonly assembly: Assembly;
}

/**
 * Opens the data directory of the settings for one command and closes it afterwards. Logs say
 * warnings and worse, or more where LOG_LEVEL asks for it.
 */
export async function withAssembly<T>(
  io: CommandIo,
  work: (workplace: Workplace) => Promise<T>,
  options: AssemblyOptions = {},
): Promise<T> {
  const { redactor, commands = systemCommands } = io;
  const settings = await settingsOf(io);
  const log = createLog({
    level: io.env["LOG_LEVEL"] ? settings.logLevel : "warn",
    timeZone: settings.timeZone,
    format: "text",
    redactor,
    write: (line) => io.err(line),
  });
  const system: System = {
    clock: io.clock ?? systemClock,
    commands,
    files: systemFiles,
    log,
    redactor,
    env: io.env,
    version: VERSION,
  };
  const assembly = await assemble(settings, system, options);
  try {
    return await work({ settings, system, assembly });
  } finally {
    await assembly.close();
  }
}
