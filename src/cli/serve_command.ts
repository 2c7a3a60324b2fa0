import process from "node:process";
import { type App, quickCheck, startApp, type System } from "../app.ts";
import { isStackwrightError, messageOf } from "../model/mod.ts";
import type { Settings } from "../settings/mod.ts";
import {
  createLog,
  type Log,
  type LogOptions,
  NOBODY,
  type Redactor,
  systemClock,
  systemCommands,
  systemFiles,
  writesToJournal,
} from "../system/mod.ts";
import { readArguments } from "./arguments.ts";
import { type Command, type CommandIo, EXIT } from "./io.ts";
import { settingsOf } from "./settings_of.ts";
import { VERSION } from "./version.ts";

/** `stackwright serve` */
export const serveCommand: Command = {
  help: `Usage: stackwright serve [--json]

Runs until SIGTERM or SIGINT; a second signal ends it at once. Settings come from environment
variables, see docs/settings.md. Logs go to standard error: as LOG_FORMAT says, by default
sentences on a terminal and in systemd's journal, and JSON lines elsewhere or with --json.

Exits 0 after a graceful end, 78 when a setting is wrong or another serve uses the same DATA_DIR, 69
when it cannot run here.
`,
  async run(io) {
    const { json } = readArguments(io.args, 0);
    const { redactor } = io;
    const settings = await settingsOf(io);
    const log = createLog({
      level: settings.logLevel,
      timeZone: settings.timeZone,
      format: json ? "json" : logFormat(io, settings.logFormat),
      redactor,
      // The log already masked each line for the owners it is about.
      write: (line) => io.err(line, NOBODY),
    });
    log.info(`stackwright ${VERSION} starts`, { data_dir: settings.data.dir });
    for (const notice of settings.notices) log.warning(notice);
    return await serve(io, settings, { log, redactor });
  },
};

/** Nobody has to say it: people get sentences, the journal its priorities, collectors JSON. */
function logFormat(
  { env, interactive }: CommandIo,
  asked: Settings["logFormat"],
): LogOptions["format"] {
  if (asked === "json") return "json";
  if (writesToJournal(env)) return "journal";
  return asked === "text" || interactive ? "text" : "json";
}

async function serve(
  io: CommandIo,
  settings: Settings,
  { log, redactor }: { log: Log; redactor: Redactor },
): Promise<number> {
  const stopped = stopSignal(log);
  const system: System = {
    clock: systemClock,
    commands: io.commands ?? systemCommands,
    files: systemFiles,
    log,
    redactor,
    env: io.env,
    version: VERSION,
  };
  let app: App;
  try {
    app = await startApp(settings, system);
  } catch (error) {
    if (isStackwrightError(error, "settings_invalid")) throw error;
    // Our errors name their cause in the message; of other errors all details are logged.
    const about = isStackwrightError(error) ? { code: error.code } : { error };
    log.critical(`could not start: ${messageOf(error)}`, about);
    return EXIT.unavailable;
  }
  const told = new AbortController();
  const telling = sayWhatIsThere(settings, system, told.signal);
  await stopped;
  told.abort();
  await telling;
  await app.close();
  log.info("stopped");
  return EXIT.ok;
}

/** Logs the lines of `doctor`, so that missing programs are noticed at the start. */
async function sayWhatIsThere(
  settings: Settings,
  system: System,
  signal: AbortSignal,
): Promise<void> {
  for (const { about, isFine, says } of await quickCheck(settings, system, signal)) {
    if (signal.aborted) return;
    // By now it listens, and has said where.
    if (about === "address") continue;
    if (isFine === false) system.log.warning(`${about}: ${says}`);
    else system.log.info(`${about}: ${says}`);
  }
}

/** Resolves at the first SIGTERM or SIGINT; the second one ends the process at once. */
function stopSignal(log: Log): Promise<void> {
  return new Promise((resolve) => {
    let asked = false;
    const onSignal = (signal: string) => {
      if (asked) process.exit(EXIT.interrupted);
      asked = true;
      log.info(`${signal} received`);
      resolve();
    };
    process.on("SIGTERM", onSignal);
    process.on("SIGINT", onSignal);
  });
}
