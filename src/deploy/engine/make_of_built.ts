import type { ContainerWish } from "../../docker/create_bodies.ts";
import type { Engine } from "../../docker/engine.ts";

/** Calls of an engine that tell which image a container was made from. */
export type LookingEngine = Pick<Engine, "imageContent" | "imageId" | "inspectContainer">;

/**
 * Makes a container from the image that is known of its service, if there is one. The request
 * uses the image's name, which people know, but another stack's build may move that name at this
 * very moment: a container from a wrong image is removed before its first start, and made again by
 * the image's id. Returns the container's id.
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
 * Whether a container was made from an image. Engines report the image's id; a digest for the
 * platform counts as well. An image that the engine no longer knows is another one: a build may
 * take an image's last name, and then containerd's store drops it.
 */
export async function isMadeOf(
  engine: LookingEngine,
  container: string,
  image: string,
  signal: AbortSignal,
): Promise<boolean> {
  const details = await engine.inspectContainer(container, signal);
  // A container that is gone fails when it is started.
  if (details === undefined || details.container.imageId === image) return true;
  const { imageId } = details.container;
  return await engine.imageId(imageId, signal) === image ||
    await engine.imageContent(image, "", signal) === imageId;
}
