import { errors } from "../model/mod.ts";
import type { Commands, Files } from "../system/mod.ts";

/** Variables of the programs that copy and remove. */
export const PROGRAMS = {
  PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
  LC_ALL: "C",
};

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
  const { code, stderr } = await commands.run({
    argv: ["rm", "-rf", "--one-file-system", "--", path],
    env: PROGRAMS,
    keptBytes: 1000,
    endsWithUs: true,
  }, signal);
  if (code === 0) return;
  // An `rm` without that option follows a link that is put in its way: what we call does not.
  if (/(?:unrecogni[sz]ed|illegal|unknown) option/i.test(stderr)) return await files.remove(path);
  throw errors.data_dir_unusable(
    `${path} could not be removed: rm ended with ${code}: ${
      stderr.trim().slice(-500)
    }; remove it ` +
      "by hand, and this goes on",
  );
}
