import { type ComposeModel, keptName } from "../../model/mod.ts";
import type { Backend, ComposeStarts } from "../backend.ts";
import { imageReference, objectsAt, serviceOf } from "../../compose/mod.ts";
import { observe } from "../observe.ts";
import { composeOfBuilt } from "./compose_of_built.ts";
import type { EngineWork } from "./engine_work.ts";
import { requirePlainHooks, withKnownMounts } from "./hook_images.ts";
import { hasUnmappedFile } from "./mapped_keys.ts";
import { requireNamedMounts } from "./require_named_mounts.ts";
import { startContainers } from "./start_containers.ts";

/**
 * Has docker compose make containers, and starts them through our engine, which looks at what they
 * mount: compose hands on mounts that nobody judged. Only where starting needs compose itself, for
 * hooks and files that we do not put, it starts what was looked at right before: `starts`, as
 * {@link composeStarts} tells.
 *
 * Throws as {@link requireNamedMounts}, {@link composeOfBuilt}, {@link requirePlainHooks} and looks do.
 */
export async function upByCompose(
  asked: EngineWork,
  { compose, starts }: { readonly compose: Backend; readonly starts: ComposeStarts | undefined },
  signal: AbortSignal,
): Promise<void> {
  const { parts: { engine }, changes: { call, built = {}, ...others } } = asked;
  const mounting = withKnownMounts(call.model ?? {}, built);
  const changes = { ...others, built, call: { ...call, model: mounting } };
  const work = { ...asked, changes };
  await composeOfBuilt(engine, compose, changes, signal);
  const { containers } = await observe(engine, changes, signal);
  await requireNamedMounts(work, containers, signal);
  if (changes.noStart) return;
  const there = { ...work, changes: { ...changes, mode: "complete" } } as const;
  if (starts === undefined) return await startContainers(there, { made: [] }, signal);
  for (const { id, service, state } of containers) {
    if (starts.services.includes(service) && state !== "running") await engine.look?.(id, signal);
  }
  // The containers that were replaced have ended by now: none of them can put a link in the way any more.
  await changes.requireAllowed?.(signal);
  const model = await withJudgedHooks(work, starts, signal);
  await compose.up({ ...there.changes, call: { ...changes.call, model } }, signal);
}

/** The model whose hooks compose runs from the images that the preparation knows, which are looked at now. */
async function withJudgedHooks(
  { parts: { engine }, changes: { key, call, built: images = {} } }: EngineWork,
  { services }: ComposeStarts,
  signal: AbortSignal,
): Promise<ComposeModel> {
  const { model = {} } = call;
  const hooked = services.map((name) => ({ name, image: imageReference(model, name) }));
  const mark = async (id: string) => {
    await engine.tagImage(id, keptName(id), signal);
    return keptName(id);
  };
  return await requirePlainHooks(engine, { key, model }, hooked, signal, { mark, images });
}

/**
 * What only docker compose can start of some services, which it then starts all: one of them has hooks, or
 * files that we do not put. `undefined` where starting their containers is all there is to do.
 */
export function composeStarts(
  model: ComposeModel,
  services: readonly string[],
): ComposeStarts | undefined {
  for (const name of services) {
    const service = serviceOf(model, name);
    const hook = ["pre_start", "post_start"].find((key) => objectsAt(service, key).length > 0);
    const because = hook ?? (hasUnmappedFile(model, service) ? "configs, secrets" : undefined);
    if (because !== undefined) return { services, because: `${because} of service ${name}` };
  }
  return undefined;
}
