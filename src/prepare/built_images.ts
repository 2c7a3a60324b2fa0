import type { Engine } from "../docker/engine.ts";
import {
  COMPOSE_LABELS,
  type ReleaseService,
  type StackKey,
  StackwrightError,
} from "../model/mod.ts";

/**
 * The images that services were just built as, by service. Their names may mean what another stack
 * built a moment later, so containers are made of these.
 *
 * Throws `conflict` where a name means what was built for another project already.
 */
export async function builtImages(
  engine: Pick<Engine, "imageId" | "imageLabels">,
  key: StackKey,
  services: readonly Pick<ReleaseService, "name" | "image">[],
  signal: AbortSignal,
): Promise<Readonly<Record<string, string>>> {
  const built: Record<string, string> = {};
  for (const { name, image } of services.filter((each) => each.image !== "")) {
    const id = await engine.imageId(image, signal);
    if (id === undefined) continue;
    const project = (await engine.imageLabels(id, signal))?.[COMPOSE_LABELS.project];
    if (project !== undefined && project !== key.name) throw builtElsewhere(key, image, project);
    built[name] = id;
  }
  return built;
}

function builtElsewhere({ name }: StackKey, image: string, project: string): StackwrightError {
  return new StackwrightError(
    "conflict",
    `image ${image}, which was built for ${name}, was built for ${project} at the same time, and its name ` +
      "means that one now; nothing that runs was touched. Give one of them another name",
  );
}
