import { LONGEST_URL } from "../../config/repository_url.ts";
import { clearHalfReplaced, readMark } from "../../deploy/mod.ts";
import { formatStackKey, messageOf, type StackKey } from "../../model/mod.ts";
import { requireNotOwnProject } from "../../prepare/mod.ts";
import { MOST_FORMER, type NamedSources } from "../../record/former_sources.ts";
import { partsFor, type PipelineParts } from "../parts.ts";
import { managesServices } from "../decide/manages_services.ts";
import { observeAnyway } from "../stack_mode.ts";
import { endOthersRuns } from "./end_others_runs.ts";
import { dataVolumes, joinedThings, noneLeaderless, partsOf } from "./own_things.ts";
import type { ThingOfStack } from "./whose.ts";

/**
 * The end of what a stack's former owner has left: runs of jobs, hooks, and containers that were to replace
 * others. Done once for each hand-over, and again where it was cut off, or a swarm without a leader told
 * nothing: its part is left to the next look. Notes which sources the labels of what is there name: that
 * goes with the stack. Returns whether there was a hand-over to clear.
 *
 * Call it in the name of the new owner, while nobody else works on the stack. Throws `conflict` where this
 * process runs in it.
 */
export async function clearHandOver(
  parts: PipelineParts,
  key: StackKey,
  signal: AbortSignal,
): Promise<boolean> {
  const { ledger, host: { engine } } = parts;
  const number = ledger.owners.toClear(key);
  if (number === 0) return false;
  await requireNotOwnProject(parts.host, key, signal);
  const isManager = await managesServices(parts, key, ledger.current(key), signal);
  await endOthersRuns(parts, { key }, signal);
  await clearHalfReplaced(engine, key, signal);
  const clear = async () => {
    if (isManager) await endOthersRuns(parts, { key, swarm: {} }, signal);
    const things = [
      ...partsOf(await observeAnyway(parts, key, signal)),
      ...await dataVolumes(engine, key, signal),
      ...await joinedThings(engine, { key, ...(isManager && { swarm: {} }) }, signal),
    ];
    ledger.owners.noteCleared(key, number, namedBy(things));
  };
  await clear().catch((error) => {
    noneLeaderless(error);
    sayLater(parts, key, error);
  });
  return true;
}

function sayLater({ log }: Pick<PipelineParts, "log">, key: StackKey, error: unknown): void {
  const text = `what the former owner of ${key.name} has left could not be ended yet: the next ` +
    `look at the stack tries again: ${messageOf(error)}`;
  log.warning(text, { stack: key.name, context: key.context });
}

/** Clears a hand-over under the stack's lock, unless another process works on it: then that, or the next look, does. */
export async function clearFreeHandOver(
  anyParts: PipelineParts,
  key: StackKey,
  signal: AbortSignal,
): Promise<void> {
  try {
    const parts = await partsFor(anyParts, key, signal);
    await parts.stackLock.run(formatStackKey(key), async () => {
      if (parts.ledger.heldElsewhere(key) !== undefined) return;
      await clearHandOver(parts, key, signal);
    }, signal);
  } catch (error) {
    signal.throwIfAborted();
    sayLater(anyParts, key, error);
  }
}

/** Sources that labels of things name: the first ones, since an engine may make up any number. */
export function namedBy(
  things: Iterable<Pick<ThingOfStack, "labels">>,
): Readonly<Record<keyof NamedSources, ReadonlySet<string>>> {
  const named = { configurations: new Set<string>(), repositories: new Set<string>() };
  for (const { labels } of things) {
    const { maker, configuration, deployed = "" } = readMark(labels);
    const of = configuration === undefined ? named.repositories : named.configurations;
    const source = configuration ?? deployed;
    const isToNote = maker !== "nobody" && of.size < MOST_FORMER && source.length <= LONGEST_URL;
    if (isToNote) of.add(source);
  }
  return named;
}
