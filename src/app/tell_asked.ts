import type { ProjectAction, StackAction } from "../deploy/mod.ts";
import { isStackwrightError, type StackKey } from "../model/mod.ts";
import { asItsOwner } from "../pipeline/mod.ts";
import { createTeller } from "../tell/mod.ts";
import type { Assembly } from "./assemble.ts";

/** An action that a person asks for on what runs. */
interface Asked {
  readonly action: ProjectAction | StackAction | "remove";
  readonly work: (within: AbortSignal) => Promise<void>;
}

/**
 * Performs what a person asked for in the name of whoever has the stack by then, see {@link asItsOwner}, and
 * tells the listeners of a name with a recorded release.
 */
export async function tellAsked(
  { ledger, listeners, learned, stackLock }: Pick<
    Assembly,
    "ledger" | "listeners" | "learned" | "stackLock"
  >,
  key: StackKey,
  { action, work }: Asked,
  signal: AbortSignal,
): Promise<void> {
  const current = ledger.current(key);
  const owned = () => asItsOwner({ ledger, stackLock }, key, work, signal);
  if (current === undefined) return await owned();
  const { revision, revision: { source: { name: repository } } } = current;
  const target = { key, repository, trigger: "project", origin: "manual" } as const;
  await learned(key, signal);
  const teller = createTeller(listeners, target, revision);
  teller.begin(action === "remove" ? "destroy" : action, "a person asked for it over the API");
  try {
    await owned();
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
