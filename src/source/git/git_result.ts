import { clip } from "../../model/mod.ts";
import type { CommandResult } from "../../system/mod.ts";
import { damagedError, type GitFailure } from "./git_failure.ts";

/** Result of a command; standard error is redacted. `failure` is set when the exit code is not zero. */
export interface GitResult extends CommandResult {
  readonly failure: GitFailure | undefined;
}

/** Throws the error of a damaged mirror when a local command with valid input failed. */
export function requireSuccess(result: GitResult, doing: string): GitResult {
  if (result.failure === undefined) return result;
  throw damagedError(`${doing} failed: ${clip(result.stderr.trim(), 300)}`);
}
