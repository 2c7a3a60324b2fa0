import { observe, observeServices } from "../deploy/mod.ts";
import { type ObservedStack, type Release, type StackKey, StackwrightError } from "../model/mod.ts";
import type { RecordedRelease } from "../record/ledger.ts";
import type { Target } from "../prepare/mod.ts";
import type { PipelineParts } from "./parts.ts";

/**
 * Refuses a stack that runs in the other mode: as containers where a swarm is to run it, or the other way
 * round. Its volumes would be mounted by both.
 *
 * Throws `conflict`.
 */
export async function requireSameMode(
  { host: { engine } }: Pick<PipelineParts, "host">,
  { key, swarm }: Pick<Target, "key" | "swarm">,
  recorded: RecordedRelease | undefined,
  signal: AbortSignal,
): Promise<void> {
  if (recorded !== undefined) return requireModeOf(key, { ...(swarm && { swarm }) }, recorded);
  if (swarm === undefined) return;
  const { containers } = await observe(engine, { key }, signal);
  const [first] = containers;
  if (first === undefined) return;
  throw otherMode(key, `container ${first.name} of a compose project of that name is there`);
}

/** The same for a release that takes the place of another one. */
export function requireModeOf(
  key: StackKey,
  { swarm }: Pick<Release, "swarm">,
  current: Pick<Release, "swarm">,
): void {
  if ((swarm === undefined) === (current.swarm === undefined)) return;
  const runs = current.swarm === undefined ? "as containers" : "as services of a swarm";
  throw otherMode(key, `it runs ${runs}`);
}

function otherMode({ name }: StackKey, why: string): StackwrightError {
  return new StackwrightError(
    "conflict",
    `${name} cannot change between containers and a swarm: ${why}; set swarm.enabled to what it is, or ` +
      "destroy it first. Nothing was changed",
  );
}

/** What runs of a stack of which nobody knows in which mode it runs: its containers and its services. */
export async function observeAnyway(
  { host }: Pick<PipelineParts, "host">,
  key: StackKey,
  signal: AbortSignal,
): Promise<ObservedStack> {
  const made = await observe(host.engine, { key }, signal);
  if ((await host.info(signal)).swarm !== "manager") return made;
  const { containers } = await observeServices(host.engine, key, signal);
  return { containers: [...made.containers, ...containers] };
}
