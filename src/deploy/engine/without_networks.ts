import type { Engine } from "../../docker/engine.ts";
import { clearingUp, type Clock } from "../../system/mod.ts";
import { COMPOSE_LABELS, errors, fewOf, isStackwrightError, messageOf } from "../../model/mod.ts";

/** Messages of engines when all address ranges for networks are in use. */
const NO_RANGE_LEFT = /address pools?\b/i;
/** Milliseconds for removing networks again: the process may be about to end. */
const TAKE_BACK_MS = 10_000;
/** Number of projects named as holders of networks. */
const MOST_NAMED = 3;

/**
 * Removes networks again whose containers will not be made: an engine has some thirty address
 * ranges for all projects, and nobody else would remove these networks. Returns the error to throw:
 * the given one or, when ranges ran out, one that names the holders.
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

/** Removes networks, whatever the deployment's timeout; another error is reported already. */
async function takeBack(
  engine: Pick<Engine, "removeNetwork">,
  made: readonly string[],
  clock: Clock,
): Promise<void> {
  await clearingUp(clock, TAKE_BACK_MS, async (within) => {
    for (const name of made) {
      await engine.removeNetwork(name, within).catch(() => {});
      within.throwIfAborted();
    }
  });
}

/** The projects with most networks of an engine, to end a sentence with. */
async function holdersOf(engine: Pick<Engine, "listNetworks">, signal: AbortSignal) {
  const networks = await engine.listNetworks({}, signal);
  const counts = new Map<string, number>();
  for (const { labels } of networks) {
    const project = labels[COMPOSE_LABELS.project];
    if (project !== undefined) counts.set(project, (counts.get(project) ?? 0) + 1);
  }
  const most = [...counts].sort(([, a], [, b]) => b - a).slice(0, MOST_NAMED);
  const named = most.map(([project, count]) => `${project} has ${count}`);
  return `; of its ${networks.length} networks ${fewOf(named) || "none is a project's"}`;
}
