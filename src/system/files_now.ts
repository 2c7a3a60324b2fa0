import { chmodSync, existsSync, readdirSync, readFileSync, renameSync, rmSync } from "node:fs";

/** The text of a file, at once: only for settings, which are read before anything else runs. */
export function readFileNow(path: string): string {
  return readFileSync(path, "utf8");
}

/** The trimmed text of a file of /proc, at once; empty where there is none. */
export function procTextNow(path: string): string {
  try {
    return readFileSync(path, "utf8").trim();
  } catch {
    return "";
  }
}

/** True when there is anything at a path, at once: for what other work may not interrupt. */
export function existsNow(path: string): boolean {
  return existsSync(path);
}

/** Puts a file in the place of another, which need not be there, at once; see {@link existsNow}. */
export function replaceNow(from: string, to: string): void {
  renameSync(from, to);
}

/** Removes a file, at once; nothing there is fine. See {@link existsNow}. */
export function removeNow(path: string): void {
  rmSync(path, { force: true });
}

/** Names in a directory, at once; see {@link existsNow}. */
export function namesNow(path: string): string[] {
  return readdirSync(path);
}

/** Sets the permissions of a file, at once, unless it is another user's; see {@link existsNow}. */
export function chmodNow(path: string, mode: number): void {
  try {
    chmodSync(path, mode);
  } catch {
    // That is not ours to change.
  }
}
