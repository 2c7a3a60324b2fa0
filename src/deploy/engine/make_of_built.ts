import type { ContainerWish } from "../../docker/create_bodies.ts";
import type { Engine } from "../../docker/engine.ts";

/** The calls of an engine that tell what a container was made of. */
export type LookingEngine = Pick<Engine, "imageContent" | "imageId" | "inspectContainer">;

/**
 * Makes a container of the image that was built for its service, where there is such an image. Engines
 * are asked by a name, which people know, and another stack that builds something else by it may move it
 * in that very moment: one that was made of another image is removed before it has run, and made again
 * of the image's id. Returns the container's id.
 */
export async function makeOfBuilt(
  engine: LookingEngine & Pick<Engine, "makeContainer" | "removeContainer">,
  wish: ContainerWish,
  built: string | undefined,
  signal: AbortSignal,
): Promise<string> {
  const id = await engine.makeContainer(wish, signal);
  if (built === undefined || await isMadeOf(engine, id, built, signal)) return id;
  await engine.removeContainer(id, { force: true, volumes: false }, signal);
  return await engine.makeContainer({ ...wish, body: { ...wish.body, Image: built } }, signal);
}

/**
 * Whether a container was made of an image. Engines tell its id; should one tell the digest of what
 * runs, that counts as well. What an engine does not know any more is another image: a build takes the
 * name of one away, and in containerd's store nothing is left of it then.
 */
export async function isMadeOf(
  engine: LookingEngine,
  container: string,
  image: string,
  signal: AbortSignal,
): Promise<boolean> {
  const details = await engine.inspectContainer(container, signal);
  // Whoever starts a container that is gone is told so.
  if (details === undefined || details.container.imageId === image) return true;
  const { imageId } = details.container;
  return await engine.imageId(imageId, signal) === image ||
    await engine.imageContent(image, "", signal) === imageId;
}
