import type { Engine } from "../docker/engine.ts";
import {
  COMPOSE_LABELS,
  errors,
  type ReleaseService,
  type StackKey,
  type StackwrightError,
} from "../model/mod.ts";
import { keepImages, type KeepingEngine } from "./kept_names.ts";

/** Looks at what a name means right after a build of it: two projects that build one have their turns. */
const MOST_LOOKS = 8;

/** Services as they are built. */
type Built = Pick<ReleaseService, "name" | "image">;

/**
 * The images that services were just built as, by service. Their names may mean what another stack
 * built a moment later, so containers are made of these, and they are kept for it. Where that was in
 * the very moment, `again` builds once more: stacks of one repository that build the same end at the
 * same time.
 *
 * Throws `conflict` where a name still means what was not built for this project.
 */
export async function builtImages<Service extends Built>(
  engine: Pick<Engine, "imageLabels"> & KeepingEngine,
  key: StackKey,
  services: readonly Service[],
  again: (services: readonly Service[]) => Promise<void>,
  signal: AbortSignal,
): Promise<Readonly<Record<string, string>>> {
  const built: Record<string, string> = {};
  let left = services.filter((each) => each.image !== "");
  for (let look = 1;; look++) {
    const others = new Map<Service, string>();
    for (const service of left) {
      const id = await engine.imageId(service.image, signal);
      // An engine that drops what has no name any more knows none for a moment, while another build takes it.
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
