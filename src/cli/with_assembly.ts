import { assemble, type Assembly, type System } from "../app.ts";
import type { Settings } from "../settings/mod.ts";
import { createLog, NOBODY, systemClock, systemCommands, systemFiles } from "../system/mod.ts";
import type { CommandIo } from "./io.ts";
import { settingsOf } from "./settings_of.ts";
import { VERSION } from "./version.ts";

/** Ports of a command about stacks. */
export interface Workplace {
  readonly settings: Settings;
  readonly system: System;
  readonly assembly: Assembly;
}

/** The settings and the system of a command. Logs say warnings and worse, or what LOG_LEVEL says. */
export async function systemOf(io: CommandIo): Promise<Omit<Workplace, "assembly">> {
  const { redactor, env, clock = systemClock, commands = systemCommands, engineLimitMs } = io;
  const settings = await settingsOf(io);
  const log = createLog({
    level: env["LOG_LEVEL"] ? settings.logLevel : "warn",
    timeZone: settings.timeZone,
    format: "text",
    redactor,
    write: (line) => io.err(line, NOBODY),
  });
  const limit = engineLimitMs === undefined ? {} : { engineLimitMs };
  const here = { clock, commands, files: systemFiles, redactor, env, version: VERSION };
  return { settings, system: { ...here, ...limit, log } };
}

/** What a command says about itself before it is assembled. */
export interface WorkOptions {
  /** Whether it records nothing, so that it works on a full disk, too. */
  readonly onlyReads?: boolean;
  /** Whether it may be the first one that works with the data directory, which it makes then. */
  readonly begins?: boolean;
}

/** Opens the data directory of the settings for one command and closes it afterwards. */
export async function withAssembly<T>(
  io: CommandIo,
  work: (workplace: Workplace) => Promise<T>,
  { onlyReads = false, begins = false }: WorkOptions = {},
): Promise<T> {
  const { settings, system } = await systemOf(io);
  const assembly = await assemble(settings, system, { onlyReads, needsLedger: !begins });
  try {
    return await work({ settings, system, assembly });
  } finally {
    await assembly.close();
  }
}
