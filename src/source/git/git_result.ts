import type { CommandResult } from "../../system/mod.ts";
import { damagedError, type GitFailure } from "./git_failure.ts";

/** The end of a command, what it printed redacted; `failure` is set when its exit code was not zero. */
export interface GitResult extends CommandResult {
  readonly failure: GitFailure | undefined;
}

/** Throws the error of a failed local command as damage when the command had only valid input. */
export function requireSuccess(result: GitResult, doing: string): GitResult {
  if (result.failure === undefined) return result;
  throw damagedError(`${doing} failed: ${result.stderr.trim().slice(0, 300)}`);
}
