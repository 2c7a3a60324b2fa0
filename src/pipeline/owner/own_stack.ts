import type { StackKey } from "../../model/mod.ts";
import type { Reconciliation } from "../../plan/mod.ts";
import { whyOwnProject } from "../../prepare/mod.ts";
import { partsFor, type PipelineParts } from "../parts.ts";

/**
 * Why nothing is done about a stack that nobody asked for, where this process runs in it; `undefined` for
 * all others. The log says once what is `left`, such as "is not repaired".
 */
export async function whyLeftAlone(
  parts: PipelineParts,
  key: StackKey,
  left: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  // An engine that does not answer changes nothing, either.
  const on = await partsFor(parts, key, signal).catch(() => signal.throwIfAborted());
  const why = on === undefined ? undefined : await whyOwnProject(on.host, key, signal);
  const said = `${key.name} ${left}: ${why}; change it by hand, as with docker compose on its host`;
  if (why === undefined || parts.mentioned.has(said)) return why;
  parts.mentioned.add(said);
  parts.log.warning(said, { stack: key.name, context: key.context });
  return why;
}

/** True where nothing is to be done about a stack, also as this process runs in it. */
export async function isNothing(
  parts: PipelineParts,
  key: StackKey,
  { plan, restarts }: Reconciliation,
  signal: AbortSignal,
): Promise<boolean> {
  if (plan.kind === "skip" && restarts.length === 0) return true;
  return await whyLeftAlone(parts, key, "is not repaired", signal) !== undefined;
}
