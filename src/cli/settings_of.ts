import process from "node:process";
import { settingFiles } from "../app.ts";
import { checkSchedule } from "../plan/mod.ts";
import { readSettings, secretValues, type Settings, writtenSettings } from "../settings/mod.ts";
import {
  embeddedSecrets,
  namedSecrets,
  readFileNow,
  systemClock,
  systemCommands,
} from "../system/mod.ts";
import type { CommandIo } from "./io.ts";

/**
 * Reads the settings of a command and makes everything secret in them unprintable, first of all what
 * is written in those that turn out to be wrong. Throws `settings_invalid`.
 */
export async function settingsOf(
  { env, redactor, signal, commands = systemCommands }: CommandIo,
): Promise<Settings> {
  const parts = { env, redactor, readFile: readFileNow, commands };
  const readFile = await settingFiles(parts, signal);
  for (const { text, isSecret } of writtenSettings(env, readFile)) {
    if (isSecret) redactor.add(text.trim());
    else [...embeddedSecrets(text), ...namedSecrets(text)].forEach((each) => redactor.add(each));
  }
  const uid = process.getuid?.();
  const now = systemClock.now();
  const settings = readSettings(env, readFile, {
    ...(uid === undefined ? {} : { uid }),
    checkSchedule: (schedule) => checkSchedule(schedule, { now }),
  });
  secretValues(settings).forEach((value) => redactor.add(value));
  return settings;
}
