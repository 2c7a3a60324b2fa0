import { memberOf, type StackKey, toStackwrightError } from "../model/mod.ts";
import type { Call } from "./operation.ts";

/** An action of a caller on a project or a stack. */
interface Audit {
  readonly action: string;
  readonly what: "project" | "stack";
  readonly key: StackKey;
  /** Further fields for the log. */
  readonly more?: Readonly<Record<string, unknown>>;
}

/** How work ended: a run that was waited for may have failed, which is a result. */
function endOf(result: unknown): string {
  const outcome = memberOf(result, "outcome");
  return outcome === undefined || outcome === "complete" ? "done" : String(outcome);
}

/** Does `work` and logs one line about it: the caller, the action, its subject and the result. */
export async function audited<T>(
  { log, client }: Call,
  { action, what, key, more }: Audit,
  work: () => Promise<T> | T,
): Promise<T> {
  const who = client === undefined ? {} : { client };
  const fields = { stack: key.name, context: key.context, ...more, ...who };
  const asker = client === undefined ? "a command asked" : "the API was asked";
  const asked = `${asker} to ${action} ${what} ${key.name}`;
  try {
    const result = await work();
    log.info(`${asked}: ${endOf(result)}`, fields);
    return result;
  } catch (error) {
    // Only the code: callers get the error itself, and internal errors are logged with the answer.
    log.info(`${asked}: failed`, { ...fields, code: toStackwrightError(error, action).code });
    throw error;
  }
}
