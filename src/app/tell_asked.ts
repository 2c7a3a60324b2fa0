import type { ProjectAction, StackAction } from "../deploy/mod.ts";
import type { StackKey } from "../model/mod.ts";
import { createTeller } from "../tell/mod.ts";
import type { Assembly } from "./assemble.ts";

/** Something that a person asks to be done to what runs. */
interface Asked {
  readonly action: ProjectAction | StackAction | "remove";
  readonly work: () => Promise<void>;
}

/**
 * Does what a person asked for to what runs under a name, and tells what becomes of it. Of what is none
 * of ours nothing is told: it has no decisions. Throws what the work throws.
 */
export async function tellAsked(
  { ledger, listeners }: Assembly,
  key: StackKey,
  { action, work }: Asked,
  signal: AbortSignal,
): Promise<void> {
  const current = ledger.current(key);
  if (current === undefined) return await work();
  const { revision, revision: { source: { name: repository } } } = current;
  const target = { key, repository, trigger: "project", origin: "manual" } as const;
  const teller = createTeller(listeners, target, revision);
  teller.begin(action === "remove" ? "destroy" : action, "a person asked for it over the API");
  try {
    await work();
    teller.tell({ kind: "ended", end: { status: "succeeded", message: PAST[action] } });
  } catch (thrown) {
    teller.fail(`the ${action} of ${key.name}`, thrown, signal);
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
