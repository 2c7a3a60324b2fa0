import { labelsLength, tooManyLabels } from "../compose/mod.ts";
import type { Engine } from "../docker/engine.ts";
import { type ReleaseService, type StackKey, StackwrightError } from "../model/mod.ts";

/** Containers of one service that are about to be made. */
interface Made extends Pick<ReleaseService, "image"> {
  readonly expectation: Pick<ReleaseService["expectation"], "replicas">;
}

/**
 * Makes sure that containers about to be made do not carry more than an engine's list of all containers
 * may hold: each has the labels of its image, which whoever made that chose.
 *
 * Throws `unsupported`, and `engine_refused` for an image that the engine tells too much of.
 */
export async function requireFewLabels(
  engine: Pick<Engine, "imageLabels">,
  { name }: StackKey,
  services: readonly Made[],
  signal: AbortSignal,
): Promise<void> {
  let length = 0;
  for (const [image, users] of Map.groupBy(services, (each) => each.image)) {
    if (image === "") continue;
    const each = labelsLength(await engine.imageLabels(image, signal));
    length += each * users.reduce((sum, { expectation }) => sum + expectation.replicas, 0);
  }
  const reason = tooManyLabels(length);
  if (reason === undefined) return;
  const message = `deployment ${name}: by its images, ${reason}. Nothing was changed`;
  throw new StackwrightError("unsupported", message);
}
