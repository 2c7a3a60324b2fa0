import { fstatSync } from "node:fs";

/**
 * True when standard error goes to systemd's journal, which then reads a priority at the beginning
 * of each line. `env` says where the journal was connected: a redirection since then does not
 * count.
 */
export function writesToJournal(
  env: Readonly<Record<string, string | undefined>>,
  standardError: () => { readonly dev: number | bigint; readonly ino: number | bigint } = () =>
    fstatSync(2, { bigint: true }),
): boolean {
  const named = env["JOURNAL_STREAM"];
  if (named === undefined) return false;
  try {
    const { dev, ino } = standardError();
    return named === `${dev}:${ino}`;
  } catch {
    return false;
  }
}
