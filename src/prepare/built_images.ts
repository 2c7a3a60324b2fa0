import type { Engine } from "../docker/engine.ts";
import {
  COMPOSE_LABELS,
  errors,
  type ReleaseService,
  type StackKey,
  type StackwrightError,
} from "../model/mod.ts";
import { keepImages, type KeepingEngine } from "./kept_names.ts";

/** Checks of a name after a build: projects that build the same name take turns. */
const MOST_LOOKS = 8;

/** The part of a built service that is needed here. */
type Built = Pick<ReleaseService, "name" | "image">;

/**
 * The images that were just built, by service. Another stack's build may take their names at any
 * moment, so containers are made from these ids, and the images are kept for that. If a name was taken
 * before it was checked, `again` builds once more: stacks of one repository finish together.
 *
 * Throws `conflict` if a name still points to an image that was not built for this project.
 */
export async function builtImages<Service extends Built>(
  engine: Pick<Engine, "imageLabels"> & KeepingEngine,
  key: StackKey,
  services: readonly Service[],
  again: (services: readonly Service[]) => Promise<unknown>,
  signal: AbortSignal,
): Promise<Readonly<Record<string, string>>> {
  const built: Record<string, string> = {};
  let left = services.filter((each) => each.image !== "");
  for (let look = 1;; look++) {
    const others = new Map<Service, string>();
    for (const service of left) {
      const id = await engine.imageId(service.image, signal);
      // While another build takes its name, an engine that drops unnamed images may report none.
      if (id === undefined) {
        if (look < MOST_LOOKS) others.set(service, "nobody");
        continue;
      }
      const project = (await engine.imageLabels(id, signal))?.[COMPOSE_LABELS.project];
      await keepImages(engine, [id], signal);
      const isThere = await engine.imageId(id, signal) !== undefined;
      if (project === key.name && isThere) built[service.name] = id;
      else others.set(service, project === undefined ? "nobody" : project);
    }
    const [first] = others;
    if (first === undefined) return built;
    if (look === MOST_LOOKS) throw builtElsewhere(key, first[0].image, first[1]);
    left = [...others.keys()];
    await again(left);
  }
}

function builtElsewhere({ name }: StackKey, image: string, project: string): StackwrightError {
  return errors.conflict(
    `image ${image}, which was built for ${name}, got another meaning at the same time: that one was built ` +
      `for ${project}. Nothing that runs was touched. Give one of them another name`,
  );
}
