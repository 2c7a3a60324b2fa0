import type { StackKey } from "../model/mod.ts";
import type { RunStore } from "../record/mod.ts";

/** Newest runs to look through: what has a stack's lock has begun lately, or the service does little else. */
const MOST_RUNS = 200;

/**
 * The run that works on a stack now, with its step, for people; `undefined` where none is known. A job is
 * known by the name of its container alone.
 */
export function runUnderWay(
  runs: Pick<RunStore, "list">,
  { context, name }: StackKey,
): string | undefined {
  const found = runs.list({ limit: MOST_RUNS, status: "running" }).map((run) => {
    const its = run.targets.find((each) =>
      each.context === context && each.stack === name && each.status === "running"
    );
    const isJob = run.repository.startsWith(`scheduled:${name}-`) ||
      run.repository.startsWith(`scheduled:${name}_`);
    return its === undefined && !isJob ? undefined : { run, step: its?.message };
  }).find((each) => each !== undefined);
  if (found === undefined) return undefined;
  const { run: { id, trigger, repository, message }, step = message } = found;
  const what = repository === "" ? "" : ` of ${repository.replace(/^scheduled:/, "")}`;
  return `run ${id} (${trigger}${what}${step === "" ? "" : `: ${step}`})`;
}
