import type { Backend, Changes } from "../backend.ts";
import type { Engine } from "../../docker/engine.ts";
import { COMPOSE_LABELS, errors, keptName, type StackwrightError } from "../../model/mod.ts";
import { mapServices } from "../../compose/mod.ts";
import { isMadeOf, type LookingEngine } from "./make_of_built.ts";

type MendingEngine =
  & LookingEngine
  & Pick<Engine, "listContainers" | "removeContainer" | "tagImage">;

/** A container that was not made from the image built for its service. */
interface WronglyMade {
  readonly id: string;
  readonly service: string;
  readonly built: string;
}

/**
 * Has docker compose make containers, without starting them. Those of services whose images are known must
 * be made from these: compose uses image names, which another stack may move. A
 * container from a wrong image is made again, with a name of the image that only Stackwright uses.
 *
 * Throws `conflict` where even that name was moved, and what compose throws.
 */
export async function composeOfBuilt(
  engine: MendingEngine,
  compose: Backend,
  changes: Changes,
  signal: AbortSignal,
): Promise<void> {
  const built = Object.entries(changes.built ?? {})
    .filter(([name]) => Object.hasOwn(changes.scale, name));
  await compose.up({ ...changes, noStart: true }, signal);
  if (built.length === 0) return;
  const wrong = await wronglyMade(engine, changes, built, signal);
  if (wrong.length === 0) return;
  await makeAgain(engine, compose, { changes, wrong }, signal);
  const [still] = await wronglyMade(engine, changes, built, signal);
  if (still !== undefined) throw movedAgain(still);
}

async function makeAgain(
  engine: MendingEngine,
  compose: Backend,
  { changes, wrong }: { readonly changes: Changes; readonly wrong: readonly WronglyMade[] },
  signal: AbortSignal,
): Promise<void> {
  const model = changes.call.model ?? {};
  const images = new Map<string, string>();
  for (const { service, built, id } of wrong) {
    await engine.tagImage(built, keptName(built), signal);
    images.set(service, keptName(built));
    // A container that replaced another holds its volumes, which compose passes on.
    if (changes.mode === "complete") {
      await engine.removeContainer(id, { force: true, volumes: false }, signal);
    }
  }
  const scale = Object.fromEntries(
    Object.entries(changes.scale).filter(([name]) => wrong.some(({ service }) => service === name)),
  );
  const made = mapServices(model, (service, name) => {
    const image = images.get(name);
    return image === undefined ? service : { ...service, image };
  });
  const call = { ...changes.call, model: made };
  await compose.up({ ...changes, scale, call, noStart: true }, signal);
}

/** The created, not yet started containers that were made from another image. */
async function wronglyMade(
  engine: MendingEngine,
  { key }: Pick<Changes, "key">,
  images: readonly (readonly [string, string])[],
  signal: AbortSignal,
): Promise<WronglyMade[]> {
  const project = { [COMPOSE_LABELS.project]: key.name };
  const containers = await engine.listContainers(project, signal);
  const wrong: WronglyMade[] = [];
  for (const [service, built] of images) {
    const made = containers.filter((each) => each.service === service && each.state === "created");
    for (const { id } of made) {
      if (!await isMadeOf(engine, id, built, signal)) wrong.push({ id, service, built });
    }
  }
  return wrong;
}

function movedAgain({ service, built }: WronglyMade): StackwrightError {
  return errors.conflict(
    `service ${service}: its container was made twice of another image than ${built}, which was prepared ` +
      `for it: somebody moves its name and ${keptName(built)}. It was not started`,
  );
}
