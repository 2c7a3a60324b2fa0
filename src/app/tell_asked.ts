import type { ProjectAction, StackAction } from "../deploy/mod.ts";
import { isStackwrightError, type StackKey } from "../model/mod.ts";
import { createTeller } from "../tell/mod.ts";
import type { Assembly } from "./assemble.ts";

/** An action that a person asks for on what runs. */
interface Asked {
  readonly action: ProjectAction | StackAction | "remove";
  readonly work: () => Promise<void>;
}

/** Performs what a person asked for, and tells the listeners of a name with a recorded release. */
export async function tellAsked(
  { ledger, listeners, learned }: Pick<Assembly, "ledger" | "listeners" | "learned">,
  key: StackKey,
  { action, work }: Asked,
  signal: AbortSignal,
): Promise<void> {
  const current = ledger.current(key);
  if (current === undefined) return await work();
  const { revision, revision: { source: { name: repository } } } = current;
  const target = { key, repository, trigger: "project", origin: "manual" } as const;
  await learned(key, signal);
  const teller = createTeller(listeners, target, revision);
  teller.begin(action === "remove" ? "destroy" : action, "a person asked for it over the API");
  try {
    await work();
    teller.tell({ kind: "ended", end: { status: "succeeded", message: PAST[action] } });
  } catch (thrown) {
    // What is refused changes nothing: told without its error, it is no state of the stack.
    if (isStackwrightError(thrown, "conflict")) {
      teller.tell({ kind: "ended", end: { status: "failed", message: thrown.message } });
    } else teller.fail(`the ${action} of ${key.name}`, thrown, signal);
    throw thrown;
  }
}

const PAST = {
  start: "started",
  stop: "stopped",
  restart: "restarted",
  scale: "scaled",
  run: "its jobs were run",
  remove: "removed",
} as const;
