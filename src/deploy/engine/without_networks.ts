import type { Engine } from "../../docker/engine.ts";
import { type Clock, withDeadline } from "../../system/mod.ts";
import { COMPOSE_LABELS, errors, isStackwrightError, messageOf } from "../../model/mod.ts";

/** What engines say when every range that they may give to networks is taken. */
const NO_RANGE_LEFT = /address pools?\b/i;
/** Longest time for taking them back, in milliseconds: the service may be about to end. */
const TAKE_BACK_MS = 10_000;
/** Projects that are named as holding networks. */
const MOST_NAMED = 3;

/**
 * Takes back networks that were made for containers that will not be made now: an engine has some
 * thirty ranges of addresses for all its projects, and nobody else would remove these. Returns the error
 * to throw: the one given, or, where it says that ranges ran out, one that tells who has them.
 */
export async function withoutNetworks(
  engine: Pick<Engine, "listNetworks" | "removeNetwork">,
  made: readonly string[],
  error: unknown,
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
): Promise<unknown> {
  await takeBack(engine, made, clock);
  if (!isStackwrightError(error, "engine_refused")) return error;
  if (!NO_RANGE_LEFT.test(error.message)) return error;
  const holders = await holdersOf(engine, signal).catch(() => "");
  return errors.deploy_failed(
    `the engine has no range of addresses left for a network (${messageOf(error)})${holders}; ` +
      "remove networks that nobody uses (docker network prune), give the engine more ranges " +
      "(default-address-pools), or have stacks share a network",
    { cause: error },
  );
}

/**
 * Removes them whether or not somebody still waits for the deployment: at its timeout they would stay, and
 * nobody would remove them. What fails here nobody can be told of besides what has failed already.
 */
async function takeBack(
  engine: Pick<Engine, "removeNetwork">,
  made: readonly string[],
  clock: Clock,
): Promise<void> {
  const late = () => errors.timeout("networks could not be removed in time");
  await withDeadline({ clock, milliseconds: TAKE_BACK_MS, late }, async (within) => {
    for (const name of made) {
      await engine.removeNetwork(name, within).catch(() => {});
      within.throwIfAborted();
    }
  }, new AbortController().signal).catch(() => {});
}

/** Who has most networks of an engine, as the rest of a sentence. */
async function holdersOf(
  engine: Pick<Engine, "listNetworks">,
  signal: AbortSignal,
): Promise<string> {
  const networks = await engine.listNetworks({}, signal);
  const counts = new Map<string, number>();
  for (const { labels } of networks) {
    const project = labels[COMPOSE_LABELS.project];
    if (project !== undefined) counts.set(project, (counts.get(project) ?? 0) + 1);
  }
  const most = [...counts].sort(([, a], [, b]) => b - a).slice(0, MOST_NAMED);
  const named = most.map(([project, count]) => `${project} has ${count}`);
  return `; of its ${networks.length} networks ${named.join(", ") || "none is a project's"}`;
}
