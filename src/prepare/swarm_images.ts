import type { Distribution } from "../docker/swarm.ts";
import { errors, own, type Release } from "../model/mod.ts";
import type { PrepareParts } from "./parts.ts";

/** Services of a stack whose image digests are needed. */
interface ImagesToResolve {
  readonly release: Pick<Release, "key" | "services">;
  /** Names of these services. */
  readonly services: readonly string[];
  /** Earlier images by service, used while a registry does not answer. */
  readonly known: Readonly<Record<string, string>>;
}

/**
 * The image of each service with its current digest in the registry, so that every node runs the
 * same. A local image that its registry does not have is run by its name.
 *
 * Changes nothing. Throws `pull_failed` for an image that its registry refuses and that is not
 * here.
 */
export async function resolveImages(
  parts: Pick<PrepareParts, "host" | "log">,
  { release, services, known }: ImagesToResolve,
  signal: AbortSignal,
): Promise<Record<string, string>> {
  const answers = new Map<string, Distribution>();
  const resolved: Record<string, string> = {};
  const said = new Set<string>();
  for (const { name, image } of release.services) {
    if (!services.includes(name) || image === "") continue;
    if (image.includes("@")) {
      resolved[name] = image;
      continue;
    }
    const answer = answers.get(image) ?? await parts.host.images.distribution(image, signal);
    answers.set(image, answer);
    if (answer.kind === "found") {
      resolved[name] = `${tagged(image)}@${answer.digest}`;
      continue;
    }
    const isHere = await parts.host.engine.imageId(image, signal) !== undefined;
    if (answer.kind === "refused" && !isHere) {
      throw errors.pull_failed(
        `service ${name}: the registry has no image ${image} for us: ${answer.why}. ` +
          "Nothing was changed",
      );
    }
    const before = own(known, name);
    const kept = before?.startsWith(`${tagged(image)}@`) === true ? before : undefined;
    const what = kept === undefined ? "run by its name" : "run as it was found before";
    resolved[name] = kept ?? image;
    const text = `image ${image} is ${what}: ${answer.why}`;
    if (answer.why === "" || said.has(text)) continue;
    said.add(text);
    parts.log.warning(text, { stack: release.key.name, context: release.key.context });
  }
  return resolved;
}

function tagged(image: string): string {
  return image.includes(":", image.lastIndexOf("/") + 1) ? image : `${image}:latest`;
}
