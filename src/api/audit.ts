import { type StackKey, toStackwrightError } from "../model/mod.ts";
import type { Call } from "./operation.ts";

/** Something a caller wants done to a project or a stack. */
interface Audit {
  readonly action: string;
  readonly what: "project" | "stack";
  readonly key: StackKey;
  /** Anything else that is worth a field of the log. */
  readonly more?: Readonly<Record<string, unknown>>;
}

/**
 * Does `work` and logs one line about it, also when it fails: who did what to which project, and what
 * became of it. Returns what `work` returns and throws what it throws.
 */
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
    log.info(`${asked}: done`, fields);
    return result;
  } catch (error) {
    // What went wrong is the answer, and logged with it where it is our fault.
    log.info(`${asked}: failed`, { ...fields, code: toStackwrightError(error, action).code });
    throw error;
  }
}
