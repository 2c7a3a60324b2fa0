import { randomBytes } from "node:crypto";
import { namesBuilt, servicesBuilt, withBuildTags } from "../compose/mod.ts";
import type { Compose } from "../deploy/mod.ts";
import {
  type BuildOptions,
  builtNames,
  errors,
  keptName,
  messageOf,
  type StackKey,
  type StackwrightError,
} from "../model/mod.ts";
import type { WantedImages } from "./wanted_images.ts";
import { keepImages, type KeepingEngine, letNamedGo } from "./kept_names.ts";
import type { ImageIds } from "./known_images.ts";
import { type LimitedParts, withinLimit } from "./within_limit.ts";

/** Ports for building images. */
interface BuildParts extends LimitedParts {
  readonly engine: KeepingEngine;
  readonly compose: Pick<Compose, "build">;
}

/** Attempts at a build whose names other builds take at the same time. */
const MOST_TRIES = 4;

/** Names of one build that are looked up: a list of tags may have any length. */
const MOST_NAMES = 1000;

/** Image ids by name; `undefined` for names without an image. */
type Named = ReadonlyMap<string, string | undefined>;

/**
 * Builds the images of services, and answers with their ids by service, also of those that they are built on.
 * Another repository's build may take any name that this one gives, with any label, while the build goes
 * on: so each image gets one more name that nobody else knows, and what has that is what was built. The name
 * stays, as the image may lose all others at any moment, and an engine removes an image with its last name: it goes
 * when the image is pruned. After a failure names lead where they did before.
 *
 * Throws `build_failed`, also where something removed what was built, and `timeout`.
 */
export async function buildImages(
  parts: BuildParts,
  wanted: WantedImages,
  { forceImagePull, noCache, quiet }: BuildOptions,
  signal: AbortSignal,
): Promise<ImageIds> {
  const { engine, compose } = parts;
  const { key, call } = wanted;
  const services = wanted.services.map((each) => each.name);
  const named = await imagesNamed(engine, wanted, signal);
  const before = [...named.values()].filter((id) => id !== undefined);
  const kept = await keepImages(engine, before, signal);
  const tags = secretTags(key, servicesBuilt(call.model ?? {}, services));
  const tagged = { ...call, model: withBuildTags(call.model ?? {}, (name) => tags.get(name)) };
  const asked = { services, pull: forceImagePull, noCache, quiet };
  try {
    const work = (within: AbortSignal) => unlessTaken(() => compose.build(tagged, asked, within));
    await withinLimit(parts, { stage: "build", doing: "building", wanted }, work, signal);
    const built = await idsOf(engine, tags, signal);
    const gone = wanted.services.find(({ name }) => !Object.hasOwn(built, name));
    if (gone !== undefined) throw builtInVain(key, gone.name);
    return built;
  } catch (error) {
    signal.throwIfAborted();
    await nameAgain(parts, tags, named, signal);
    throw error;
  } finally {
    const going = new Set(kept.map(keptName));
    const now = new Set(tags.values());
    // What a build has made again has one name of it, which nobody else takes away: earlier ones are not needed.
    const isEarlier = (tag: string, all: readonly string[]) =>
      tag.startsWith(builtNames(key.name)) && !now.has(tag) && all.some((each) => now.has(each));
    const isOver = (tag: string, all: readonly string[]) => going.has(tag) || isEarlier(tag, all);
    if (!signal.aborted) await letNamedGo(parts, isOver, signal);
  }
}

/** A name for what is built for each service, which no author may use and nobody can guess. */
function secretTags(
  { name }: StackKey,
  services: readonly string[],
): ReadonlyMap<string, string> {
  const start = builtNames(name);
  return new Map(
    services.map((each) => [each, `${start}${randomBytes(24).toString("hex")}`]),
  );
}

/** Repeats a build that fails because another one gives the same name, in containerd's store. */
async function unlessTaken(build: () => Promise<void>): Promise<void> {
  for (let tries = 1;; tries++) {
    try {
      return await build();
    } catch (error) {
      if (tries === MOST_TRIES || !/^.*\bimage\b.*: already exists/m.test(messageOf(error))) {
        throw error;
      }
    }
  }
}

/** Ids of the images that have the given names, by service. */
async function idsOf(
  engine: KeepingEngine,
  tags: ReadonlyMap<string, string>,
  signal: AbortSignal,
): Promise<Record<string, string>> {
  const ids: Record<string, string> = {};
  for (const [service, tag] of tags) {
    const id = await engine.imageId(tag, signal);
    if (id !== undefined) ids[service] = id;
  }
  return ids;
}

function builtInVain({ name }: StackKey, service: string): StackwrightError {
  return errors.build_failed(
    `the image that was built for service ${service} of ${name} is not on the engine: something removed it ` +
      "as soon as it was there. Nothing that runs was touched; deploy again",
  );
}

/** The current images behind the names that a build will give. */
async function imagesNamed(
  engine: KeepingEngine,
  { services, call: { model = {} } }: WantedImages,
  signal: AbortSignal,
): Promise<Named> {
  const named = new Map<string, string | undefined>();
  const names = [
    ...services.map(({ image }) => image),
    ...namesBuilt(model, services.map(({ name }) => name)),
  ];
  for (const each of [...new Set(names)].slice(0, MOST_NAMES)) {
    named.set(each, await engine.imageId(each, signal));
  }
  return named;
}

/**
 * Restores names that successful builds took, when another build beside them failed: those images
 * were never released, and go. Builds cannot use other names, as one Dockerfile may name another's image.
 * What another stack's build gave a name meanwhile stays.
 */
async function nameAgain(
  { engine, log }: BuildParts,
  tags: ReadonlyMap<string, string>,
  named: Named,
  signal: AbortSignal,
) {
  try {
    const built = await idsOf(engine, tags, signal);
    const ours = new Set(Object.values(built));
    for (const [image, before] of named) {
      const now = await engine.imageId(image, signal);
      if (now === before || now !== undefined && !ours.has(now)) continue;
      if (before === undefined) await engine.removeImage(image, signal);
      else await engine.tagImage(before, image, signal);
    }
    for (const service of Object.keys(built)) {
      await engine.removeImage(tags.get(service) ?? "", signal);
    }
  } catch (error) {
    signal.throwIfAborted();
    // The failed build is the error to report; scaling uses the running images, not names.
    log.warning(`images of a failed build keep their names: ${messageOf(error)}`);
  }
}
