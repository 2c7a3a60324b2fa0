import { errors, type StackwrightError } from "../model/mod.ts";

/** The error for a file of a repository that is not read because of its size. */
export function tooLargeFile(path: string, bytes: number, most: number): StackwrightError {
  return errors.config_invalid(`${path} has ${bytes} bytes, the most that is read is ${most}`);
}
