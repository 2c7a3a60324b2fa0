import { clip, errors } from "../model/mod.ts";
import type { Commands, Files } from "../system/mod.ts";

/** Variables of the programs that copy and remove. */
export const PROGRAMS = {
  PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
  LC_ALL: "C",
};

/** Characters of what such a program says that are told: it may complain of millions of files. */
const MOST_SAID = 500;

/**
 * Runs `rm` or `cp`. What it says is cut at its end, with an ellipsis: what masks secrets knows their
 * beginnings there, and not what is left of one that was cut in front.
 */
export async function runOnFiles(
  commands: Commands,
  argv: [string, ...string[]],
  signal: AbortSignal,
): Promise<{ readonly code: number; readonly said: string }> {
  let said = "";
  const onLine = (line: string) => {
    if (said.length <= MOST_SAID) said += `${line.slice(0, MOST_SAID + 1)}\n`;
  };
  const how = { env: PROGRAMS, keptBytes: 1000, endsWithUs: true };
  const { code } = await commands.run({ argv, onLine, ...how }, signal);
  const text = said.trim();
  return { code, said: clip(text, MOST_SAID) };
}

/**
 * Removes a tree in which containers may have written; nothing there is fine, and it may be called
 * again. Containers choose how deep directories lie in each other: the runtimes remove these by calling
 * themselves, which ends the process at ten thousand (Deno) or takes hours (Bun). `rm` does neither.
 *
 * Throws `data_dir_unusable` when something stays, and the signal's reason when aborted.
 */
export async function removeWritten(
  { commands, files }: { readonly commands: Commands; readonly files: Pick<Files, "remove"> },
  path: string,
  signal: AbortSignal,
): Promise<void> {
  const { code, said } = await runOnFiles(
    commands,
    ["rm", "-rf", "--one-file-system", "--", path],
    signal,
  );
  if (code === 0) return;
  // An `rm` without that option follows a link that is put in its way: what we call does not.
  if (/(?:unrecogni[sz]ed|illegal|unknown) option/i.test(said)) return await files.remove(path);
  throw errors.data_dir_unusable(
    `${path} could not be removed: rm ended with ${code}: ${said}; remove it by hand, and this goes on`,
  );
}
