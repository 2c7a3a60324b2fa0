import type { ContainerWish } from "../../docker/create_bodies.ts";
import type { Engine } from "../../docker/engine.ts";
import { StackwrightError } from "../../model/mod.ts";

/** Containers that are made of a name before it is given up. */
const MOST_ATTEMPTS = 8;

type MakingEngine = Pick<
  Engine,
  "imageId" | "inspectContainer" | "makeContainer" | "removeContainer" | "tagImage"
>;

/**
 * Makes a container of the image that was built for its service, where there is such an image. Engines
 * are asked by a name, and another stack that builds something else by it may move it in that very
 * moment: one that was made of another image is removed before it has run. Returns the container's id.
 *
 * Throws `conflict` where the name is moved each time.
 */
export async function makeOfBuilt(
  engine: MakingEngine,
  wish: ContainerWish,
  built: string | undefined,
  signal: AbortSignal,
): Promise<string> {
  const { Image } = wish.body;
  for (let attempt = 1;; attempt++) {
    const id = await engine.makeContainer(wish, signal);
    if (built === undefined) return id;
    const made = await engine.inspectContainer(id, signal);
    // Some engines tell a container's image otherwise than the id that its name has.
    const image = made && await engine.imageId(made.container.imageId, signal);
    if (image === undefined || image === built) return id;
    await engine.removeContainer(id, { force: true, volumes: false }, signal);
    if (attempt === MOST_ATTEMPTS) {
      throw new StackwrightError(
        "conflict",
        `another stack moves the name of the image ${Image} to what it builds itself, each time that ` +
          "a container is made of what was built for this one; give one of them another name",
      );
    }
    await engine.tagImage(built, Image, signal);
  }
}
