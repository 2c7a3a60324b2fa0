import { errors, isStackwrightError, messageOf } from "../model/mod.ts";

const DISK_CODES = new Set([
  "EACCES",
  "EDQUOT",
  "EEXIST",
  "EIO",
  "EMFILE",
  "ENOSPC",
  "ENOTDIR",
  "EPERM",
  "EROFS",
]);

/** The runtime's code of a file system error, empty for anything else. */
export function diskCode(error: unknown): string {
  const code = typeof error === "object" && error !== null && "code" in error ? error.code : "";
  return typeof code === "string" ? code : "";
}

/** Runs `task`, which writes below `path`; what the disk refuses becomes `data_dir_unusable`. */
export async function onDisk<T>(path: string, task: () => Promise<T>): Promise<T> {
  try {
    return await task();
  } catch (error) {
    if (isStackwrightError(error) || !DISK_CODES.has(diskCode(error))) throw error;
    throw errors.data_dir_unusable(
      `writing below ${path} failed: ${messageOf(error)}; ` +
        "make room there, and make it a directory this service may write to",
      { cause: error },
    );
  }
}
