import type { AskedAction, LockParts } from "../deploy/mod.ts";
import type { Intake } from "../intake.ts";
import { isStackwrightError, type StackKey } from "../model/mod.ts";
import { asItsOwner, waitForProcess } from "../pipeline/mod.ts";
import { createTeller } from "../tell/mod.ts";
import type { Assembly } from "./assemble.ts";

/** An action that a person asks for on what runs. */
interface Asked<T> {
  readonly action: AskedAction;
  readonly work: (within: AbortSignal) => Promise<T>;
}

/** What the service that is asked gives to such actions. */
export interface Asking extends Required<Pick<LockParts, "clock" | "underWay">> {
  readonly change: Intake["change"];
}

/** What all such actions wait with, and are carried out by: under the same locks as deployments. */
export function askedParts(
  assembly: Assembly,
  { clock, change, underWay }: Asking,
): LockParts {
  const { ledger, learned, stackLock } = assembly;
  return {
    clock,
    stackLock,
    ledger,
    // Not under the limit of the wait: a store of secrets that says nothing keeps nobody from a stop.
    change: (key, work) =>
      change(async (within) => {
        await learned(key, within);
        return await work(within);
      }),
    underWay,
    othersDone: (key, signal) => waitForProcess({ ledger, clock }, key, () => {}, signal),
    told: (key, action, work, signal) => tellAsked(assembly, key, { action, work }, signal),
  };
}

/**
 * Performs what a person asked for in the name of whoever has the stack by then, see {@link asItsOwner}, and
 * tells the listeners of a name with a recorded release.
 */
export async function tellAsked<T>(
  { ledger, listeners, stackLock }: Pick<Assembly, "ledger" | "listeners" | "stackLock">,
  key: StackKey,
  { action, work }: Asked<T>,
  signal: AbortSignal,
): Promise<T> {
  const current = ledger.current(key);
  const owned = () => asItsOwner({ ledger, stackLock }, key, work, signal);
  if (current === undefined) return await owned();
  const { revision, revision: { source: { name: repository } } } = current;
  const target = { key, repository, trigger: "project", origin: "manual" } as const;
  const teller = createTeller(listeners, target, revision);
  teller.begin(action === "remove" ? "destroy" : action, "a person asked for it over the API");
  try {
    const result = await owned();
    teller.tell({ kind: "ended", end: { status: "succeeded", message: PAST[action] } });
    return result;
  } catch (thrown) {
    // What is refused changes nothing: told without its error, it is no state of the stack.
    if (isStackwrightError(thrown, "conflict")) {
      teller.tell({ kind: "ended", end: { status: "failed", message: thrown.message } });
    } else teller.fail(`the ${action} of ${key.name}`, thrown, signal);
    throw thrown;
  }
}

const PAST: Readonly<Record<AskedAction, string>> = {
  start: "started",
  stop: "stopped",
  restart: "restarted",
  scale: "scaled",
  run: "its jobs were run",
  remove: "removed",
};
