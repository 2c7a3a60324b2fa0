import type { ContainerRecipe } from "../docker/engine.ts";
import {
  COMPOSE_LABELS,
  errors,
  isOurs,
  messageOf,
  type ObservedStack,
  type Progress,
  type Release,
  type StackKey,
  toStackwrightError,
} from "../model/mod.ts";
import type { Slot } from "../system/mod.ts";
import { bringOldData } from "./bring_old_data.ts";
import { type OldDataParts, removeCopy } from "./copy_old_data.ts";
import { letReturn } from "./left_orphans.ts";
import { fewAtOnce } from "./few_at_once.ts";
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
  readonly observed: ObservedStack;
  readonly progress: Progress;
  readonly slot: Slot;
  readonly hasPrevious: boolean;
}

/**
 * Rolls a release out over containers that Stackwright did not make: copies their data first, and
 * restores the containers when the release fails and no earlier release of ours exists. Compose
 * replaces containers by labels, which cannot be removed, so restoring creates them anew from their
 * recorded settings and volumes; data in a container's own layer is lost, as with every
 * replacement.
 */
export async function adoptContainers(
  parts: AdoptionParts,
  adoption: Adoption,
  rollOut: () => Promise<RolloutResult>,
  signal: AbortSignal,
): Promise<RolloutResult> {
  const { release, hasPrevious } = adoption;
  const recipes: ContainerRecipe[] = [];
  const { engine } = parts.host;
  let brought: Awaited<ReturnType<typeof bringOldData>>;
  try {
    if (!hasPrevious) {
      const foreign = adoption.observed.containers.filter((each) => !isOurs(each));
      let length = 0;
      const found = await fewAtOnce(foreign, async ({ id }) => {
        const recipe = await engine.containerRecipe(id, signal);
        length += JSON.stringify(recipe ?? "").length;
        if (length <= MOST_OF_RECIPES) return recipe;
        throw errors.engine_refused(
          `what the engine tells of ${foreign.length} containers takes more than ${MOST_OF_RECIPES} ` +
            "characters: it is kept, to put them back; remove those that nobody needs",
        );
      });
      recipes.push(...found.filter((each) => each !== undefined).sort(byNeed));
    }
    brought = await bringOldData(parts, adoption, signal);
  } catch (thrown) {
    signal.throwIfAborted();
    const error = toStackwrightError(thrown, `adopting ${release.key.name}`);
    return { kind: "failed", error, text: "nothing was replaced" };
  }
  const result = await rollOut();
  if (result.kind === "deployed" || !parts.options.rollback) return result;
  const { error } = result;
  if (hasPrevious) {
    // They ran beside what was put back.
    await letReturn(engine, brought.halted, signal);
    for (const id of brought.halted.keys()) await engine.startContainer(id, signal);
  }
  if (result.kind !== "failed" || recipes.length === 0) return result;
  adoption.progress("putting the earlier containers back");
  try {
    await letReturn(engine, brought.halted, signal);
    const names = await putRecipesBack(parts, release.key, recipes, signal);
    // The next attempt copies again: the restored containers write to their own place from now on.
    for (const path of brought.copied) await removeCopy(parts, release.key, path, signal);
    const text = `the containers that ran before were put back: ${names.join(", ")}`;
    return { kind: "rolled_back", error, text };
  } catch (thrown) {
    signal.throwIfAborted();
    const text = `putting the earlier containers back failed too: ${messageOf(thrown)}`;
    return { kind: "failed", error, text };
  }
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
  recipes: readonly ContainerRecipe[],
  signal: AbortSignal,
): Promise<string[]> {
  const now = await engine.listContainers({ [COMPOSE_LABELS.project]: key.name }, signal);
  // No release of ours was healthy yet, so every container of ours belongs to the failed one.
  for (const { id } of now.filter(isOurs)) {
    await engine.removeContainer(id, { force: true, volumes: false }, signal);
  }
  const ids = new Map<string, string>();
  for (const recipe of recipes) {
    const isThere = now.some(({ id }) => id === recipe.id);
    const id = isThere ? recipe.id : await engine.createContainer(movedTo(recipe, ids), signal);
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
