import { clip, errors, type StackwrightError } from "../../model/mod.ts";
import {
  type CommandResult,
  createRedactor,
  LONGEST_SAID,
  type Redactor,
} from "../../system/mod.ts";
import { classifyFailure, damagedError, type GitFailure, lostHostKey } from "./git_failure.ts";

/** Result of a command; standard error is redacted. `failure` is set when the exit code is not zero. */
export interface GitResult extends CommandResult {
  readonly failure: GitFailure | undefined;
}

/** Characters dropped from the beginning of a cut text: the cut may have split a secret. */
const LONGEST_SECRET = 64 * 1024;

/** The result of a program, without secrets; only one that talked to a remote has `secrets`, even if none. */
export function gitResult(
  { code, stdout, stderr }: CommandResult,
  secrets: readonly string[] | undefined,
  redactor: Redactor,
): GitResult {
  const said = stderr.slice(-LONGEST_SAID);
  const failure = code !== 0
    ? classifyFailure(said, secrets !== undefined)
    : lostHostKey(stderr)
    ? "unkept_host_key"
    : undefined;
  const redacted = redactor.redact(without(secrets ?? [], said));
  // The redactor does not recognise a secret that the cut split.
  const whole = said.length < stderr.length ? redacted.slice(LONGEST_SECRET) : redacted;
  return { stdout, stderr: whole, failure, code };
}

/**
 * A text without the secrets of one command. They stay out of the shared redactor: authors of URLs
 * would decide what is masked everywhere, and each secret would be kept for ever.
 */
function without(secrets: readonly string[], text: string): string {
  if (secrets.length === 0 || text === "") return text;
  const own = createRedactor();
  for (const each of secrets) own.add(each);
  return own.redact(text);
}

/** Exit code of a program that was ended for the time that it took on processors. */
export const TOO_LONG = 128 + 24;

/** Throws {@link localFailure} when a local command with valid input failed. */
export function requireSuccess(result: GitResult, doing: string): GitResult {
  if (result.failure === undefined) return result;
  throw localFailure(result, doing);
}

/** The error of a local command with valid input: the mirror is damaged, unless the memory was too little. */
export function localFailure({ failure, stderr }: GitResult, doing: string): StackwrightError {
  const said = `${doing} failed: ${clip(stderr.trim(), 300)}`;
  if (failure !== "memory") return damagedError(said);
  return errors.source_invalid(
    `${said}; it takes more memory than git may have: take large files out of the repository`,
  );
}
