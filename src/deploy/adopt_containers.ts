import { servicesOf } from "../compose/mod.ts";
import type { ContainerRecipe, Engine } from "../docker/engine.ts";
import { asRecord } from "../docker/json.ts";
import {
  COMPOSE_LABELS,
  errors,
  fewOf,
  type HaltedPolicies,
  isOurs,
  messageOf,
  type ObservedContainer,
  type ObservedStack,
  own,
  type Progress,
  type Release,
  type ServicePlan,
  type StackKey,
  toStackwrightError,
} from "../model/mod.ts";
import type { Slot } from "../system/mod.ts";
import { bringOldData, type Brought, modelBefore } from "./bring_old_data.ts";
import { type OldDataParts, removeCopies } from "./copy_old_data.ts";
import { type Halts, letReturn } from "./left_orphans.ts";
import { fewAtOnce } from "./few_at_once.ts";
import { changedNames } from "./kept_services.ts";
import type { RolloutResult } from "./rollout_words.ts";

interface AdoptionParts extends OldDataParts {
  readonly options: OldDataParts["options"] & {
    /** Whether a failed release is taken back by restoring what ran before. */
    readonly rollback: boolean;
  };
}

/** A rollout that may replace containers which Stackwright did not make. */
interface Adoption {
  readonly release: Release;
  /** What the plan does to each service. */
  readonly services: readonly ServicePlan[];
  readonly observed: ObservedStack;
  readonly progress: Progress;
  readonly slot: Slot;
  readonly hasPrevious: boolean;
  /** Services that ran as it began, which a process may have stopped that was killed. */
  readonly ranBefore: readonly string[];
  readonly halts: Halts;
}

/**
 * Rolls a release out over containers that Stackwright did not make: copies their data first, and
 * restores the containers when the release fails and no earlier release of ours exists, or none of theirs in
 * the one that does: it had left alone what ran of an inactive profile. Compose
 * replaces containers by labels, which cannot be removed, so restoring creates them anew from their
 * recorded settings and volumes; data in a container's own layer is lost, as with every
 * replacement. Orphans that were stopped for good are started again with what was there before.
 */
export async function adoptContainers(
  parts: AdoptionParts,
  adoption: Adoption,
  rollOut: () => Promise<RolloutResult>,
  signal: AbortSignal,
): Promise<RolloutResult> {
  const { hasPrevious, halts } = adoption;
  let recipes: readonly ContainerRecipe[] = [];
  let brought: Brought = halts.had;
  let result: RolloutResult;
  try {
    recipes = await recipesOf(parts, adoption, signal);
    brought = await bringOldData(parts, adoption, signal);
    result = await rollOut();
  } catch (thrown) {
    signal.throwIfAborted();
    const error = toStackwrightError(thrown, `adopting ${adoption.release.key.name}`);
    result = { kind: "failed", error, text: "nothing was replaced" };
    // A process that was killed may have stopped them, and made others.
    const { halted, copied } = halts.had;
    if (Object.keys(halted).length + copied.length === 0) return result;
  }
  const { host: { engine } } = parts;
  if (result.kind === "deployed") {
    // What wrote to the data that was copied, and is not replaced: its own mount stays.
    const kept = adoption.observed.containers.filter(({ service }) =>
      adoption.services.some(({ name, action }) => name === service && action === "keep") &&
      servicesOf(adoption.release.model)[service] !== undefined
    );
    await letReturn(
      engine,
      brought.halted,
      signal,
      ({ id }) => kept.some((each) => each.id === id),
    );
    return result;
  }
  const { error } = result;
  const comesBack = hasPrevious
    ? result.kind === "rolled_back"
    : parts.options.rollback && recipes.length > 0;
  // Beside what was left as it is, they would write to the same data.
  const left = () => leftStopped(engine, brought.halted, signal);
  if (!comesBack) return { ...result, text: result.text + await left() };
  try {
    if (hasPrevious && recipes.length === 0) {
      await letReturn(engine, brought.halted, signal);
      return result;
    }
    const text = await putBack(parts, adoption, { recipes, brought }, signal);
    return { kind: "rolled_back", error, text: hasPrevious ? `${result.text}; ${text}` : text };
  } catch (thrown) {
    signal.throwIfAborted();
    const text = `putting the earlier containers back failed too: ${messageOf(thrown)}`;
    const more = hasPrevious ? `${result.text}; ` : "";
    return { kind: "failed", error, text: more + text + await left() };
  }
}

/** How a person starts again what was stopped for good, and is there. */
async function leftStopped(
  engine: Pick<Engine, "inspectContainer">,
  halted: HaltedPolicies,
  signal: AbortSignal,
): Promise<string> {
  const there = await fewAtOnce(Object.entries(halted), async ([id, policy]) => {
    const found = await engine.inspectContainer(id, signal).catch(() => ({}));
    return found === undefined ? [] : [[id, policy] as const];
  });
  const commands = there.flat().map(([id, { Name, MaximumRetryCount: most }]) => {
    const name = id.slice(0, 12);
    const policy = most > 0 ? `${Name}:${most}` : Name;
    return `docker update --restart ${policy} ${name}; docker start ${name}`;
  });
  return commands.length === 0 ? "" : `; stopped before (to undo it: ${commands.join("; ")})`;
}

/**
 * How to make the containers again that are replaced, those last that need others; none where Stackwright
 * made all. Of its own the ledger knows no release: they are somebody else's by now, or it was lost. Where it
 * does, that is put back by itself, and only others' containers of services that it does not have are missing.
 */
async function recipesOf(
  parts: AdoptionParts,
  { release: { key }, observed, ranBefore, services, halts, hasPrevious }: Adoption,
  signal: AbortSignal,
): Promise<ContainerRecipe[]> {
  if (observed.containers.every(isOurs)) return [];
  const { host: { engine } } = parts;
  const changed = new Set(changedNames(services));
  const had = hasPrevious ? servicesOf(modelBefore(parts, key) ?? {}) : {};
  const there = observed.containers.filter((each) =>
    hasPrevious
      ? !isOurs(each) && changed.has(each.service) && had[each.service] === undefined
      : !isOurs(each) || (isFirst(halts) && changed.has(each.service))
  );
  let length = 0;
  const found = await fewAtOnce(there, async ({ id }) => {
    const recipe = await engine.containerRecipe(id, signal);
    length += JSON.stringify(recipe ?? "").length;
    if (length <= MOST_OF_RECIPES) return recipe;
    throw errors.engine_refused(
      `what the engine tells of ${there.length} containers takes more than ${MOST_OF_RECIPES} ` +
        "characters: it is kept, to put them back; remove those that nobody needs",
    );
  });
  const recipes = found.filter((each) => each !== undefined).sort(byNeed);
  // Of a service that ran, a process that was killed may have stopped all.
  const running = new Set(recipes.filter(({ runs }) => runs).map(serviceOf));
  const stopped = new Set(ranBefore.filter((name) => !running.has(name)));
  return recipes.map((each) => {
    const { body } = each;
    const runs = each.runs || stopped.has(serviceOf(each));
    const RestartPolicy = own(halts.had.halted, each.id);
    if (RestartPolicy === undefined) return { ...each, runs };
    return {
      ...each,
      runs,
      body: { ...body, HostConfig: { ...asRecord(body["HostConfig"]), RestartPolicy } },
    };
  });
}

/** Whether no attempt before has made room: then no container that is there is one of a failed release. */
function isFirst({ had: { halted, copying, copied } }: Halts): boolean {
  return Object.keys(halted).length + copying.length + copied.length === 0;
}

function serviceOf({ labels }: ContainerRecipe): string {
  return labels[COMPOSE_LABELS.service] ?? "";
}

/** Puts the containers back that somebody else had made, and a failed release replaced; tells which. */
async function putBack(
  parts: AdoptionParts,
  { release, progress, observed, halts, hasPrevious }: Adoption,
  { recipes, brought: { copied, halted } }: {
    readonly recipes: readonly ContainerRecipe[];
    readonly brought: Brought;
  },
  signal: AbortSignal,
): Promise<string> {
  progress("putting the earlier containers back");
  const stays = new Set(isFirst(halts) ? observed.containers.map(({ id }) => id) : []);
  const replaced = new Set(recipes.map(serviceOf));
  // No release of ours was healthy yet, or none with these services: all others belong to the failed one.
  const isFailed = ({ id, service }: ObservedContainer) =>
    hasPrevious ? replaced.has(service) : !stays.has(id);
  const names = await putRecipesBack(parts, release.key, { recipes, isFailed }, signal);
  await letReturn(parts.host.engine, halted, signal);
  // The next attempt copies again: the restored containers write to their own place from now on.
  await removeCopies(parts, release, copied, signal);
  return `the containers that ran before were put back: ${fewOf(names)}`;
}

/** Characters of all containers that may be put back; ordinary ones have 10,000. */
const MOST_OF_RECIPES = 16 << 20;

/** Order in which a container that shares another container's network comes after the others. */
function byNeed(a: ContainerRecipe, b: ContainerRecipe): number {
  return Number(shared(a) !== undefined) - Number(shared(b) !== undefined);
}

function shared({ body }: ContainerRecipe): string | undefined {
  const mode = (body["HostConfig"] as { NetworkMode?: string } | undefined)?.NetworkMode ?? "";
  return /^container:(.+)$/.exec(mode)?.[1];
}

async function putRecipesBack(
  { host: { engine } }: AdoptionParts,
  key: StackKey,
  { recipes, isFailed }: {
    readonly recipes: readonly ContainerRecipe[];
    /** Whether a container of Stackwright belongs to the failed release. */
    isFailed(container: ObservedContainer): boolean;
  },
  signal: AbortSignal,
): Promise<string[]> {
  const now = await engine.listContainers({ [COMPOSE_LABELS.project]: key.name }, signal);
  for (const { id } of now.filter((each) => isOurs(each) && isFailed(each))) {
    await engine.removeContainer(id, { force: true, volumes: false }, signal);
  }
  const there = new Set(now.map(({ id }) => id));
  const ids = new Map<string, string>();
  for (const recipe of recipes) {
    const id = there.has(recipe.id)
      ? recipe.id
      : await engine.createContainer(movedTo(recipe, ids), signal);
    ids.set(recipe.id, id);
    if (recipe.runs) await engine.startContainer(id, signal);
  }
  return recipes.map(({ name }) => name);
}

/** The recipe, with a shared network changed to the container that was created anew (`ids`). */
function movedTo(recipe: ContainerRecipe, ids: ReadonlyMap<string, string>): ContainerRecipe {
  const id = ids.get(shared(recipe) ?? "");
  if (id === undefined) return recipe;
  const HostConfig = { ...recipe.body["HostConfig"] as object, NetworkMode: `container:${id}` };
  return { ...recipe, body: { ...recipe.body, HostConfig } };
}
