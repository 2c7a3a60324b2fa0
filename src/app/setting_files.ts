import { errors, messageOf, StackwrightError, utf8 } from "../model/mod.ts";
import { createSops, createSopsProgram } from "../secrets/mod.ts";
import { type Environment, type ReadFile, SETTINGS_TABLE } from "../settings/mod.ts";
import { type Commands, createTurns, type Redactor, systemClock } from "../system/mod.ts";

interface SettingFilesParts {
  readonly env: Environment;
  /** Reads a file without decrypting it. */
  readonly readFile: ReadFile;
  readonly commands: Commands;
  readonly redactor: Redactor;
}

/** The setting with the keys themselves, whose file is therefore never encrypted. */
const KEYS = "SOPS_AGE_KEY";

/** Decrypts the files of `X_FILE` variables; returns a function that reads them, for `readSettings`. */
export async function settingFiles(
  parts: SettingFilesParts,
  signal: AbortSignal,
): Promise<ReadFile> {
  const { env, readFile, commands, redactor } = parts;
  const ageKey = keysOf(parts);
  const program = createSopsProgram({ commands, env, ageKey });
  const sops = createSops({ ageKey, program, redactor, turns: createTurns(systemClock) });
  const read = new Map<string, string | StackwrightError>();
  for (const { name, file } of SETTINGS_TABLE) {
    const path = env[`${name}_FILE`] ?? "";
    if (!file || name === KEYS || path.trim() === "" || read.has(path)) continue;
    const text = textOf(readFile, path);
    if (text === undefined) continue;
    try {
      const plain = await sops.decrypt(
        { name: path, bytes: new TextEncoder().encode(text) },
        signal,
      );
      if (plain !== undefined) read.set(path, utf8(plain.bytes));
    } catch (error) {
      signal.throwIfAborted();
      read.set(path, errors.settings_invalid(messageOf(error), { cause: error }));
    }
  }
  return (path) => {
    const known = read.get(path);
    if (known instanceof StackwrightError) throw known;
    return known ?? readFile(path);
  };
}

function keysOf({ env, readFile }: SettingFilesParts): string | undefined {
  const own = env[KEYS];
  if (own !== undefined && own.trim() !== "") return own;
  const path = env[`${KEYS}_FILE`] ?? "";
  return path.trim() === "" ? undefined : textOf(readFile, path);
}

/** The text of a file; `undefined` if unreadable, which reading the setting reports as an error. */
function textOf(readFile: ReadFile, path: string): string | undefined {
  try {
    return readFile(path);
  } catch {
    return undefined;
  }
}
