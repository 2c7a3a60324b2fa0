import { createHash } from "node:crypto";
import type { ReleaseService } from "./release.ts";
import { clip } from "./texts.ts";

/** An image, and the name under which a release records the id that it ran. */
export interface NamedImage {
  /** The service's name for its own image; for a side image `web/tool:1`, which names none. */
  readonly name: string;
  /** The reference in the compose model. */
  readonly image: string;
}

/** A service, as far as its images go; one image beside it can stand for it. */
export type Imaged = NamedImage & Pick<ReleaseService, "sideImages">;

/** The name under which a release records what a service uses: its own image, or one beside it. */
export function nameOfImage({ name, image: own }: NamedImage, image: string): string {
  return image === own ? name : `${name}/${image}`;
}

/** Side images of a service: those of its hooks, and mounted ones. */
export function imagesBeside(
  { name, sideImages = [] }: Pick<ReleaseService, "name" | "sideImages">,
): readonly NamedImage[] {
  return sideImages.map((image) => ({ name: `${name}/${image}`, image }));
}

/** All images of a service, its own last. */
export function imagesOf(
  service: Imaged,
): readonly NamedImage[] {
  return [...imagesBeside(service), { name: service.name, image: service.image }];
}

/** Repository of names that keep images, as some stores drop unnamed ones. Never pulled. */
export const KEPT_NAMES = "stackwright/kept";

/** Name, made from its id, that keeps an image when a build takes the image's own name. */
export function keptName(id: string): string {
  return `${KEPT_NAMES}:${id.slice(id.indexOf(":") + 1)}`;
}

/**
 * Name, made from its id, of an image that was there without a registry before a stack pulled it: only a person can
 * bring it back, whatever registry claims to have it.
 */
export function foundName(id: string): string {
  return `${KEPT_NAMES}:found-${id.slice(id.indexOf(":") + 1)}`;
}

/**
 * Start of the names by which what is built for a stack is known and kept; digits that nobody can guess follow.
 * A name of another stack on the same image means that this stack has built it, too.
 */
export function builtNames(project: string): string {
  return `${BUILT}${createHash("sha256").update(project).digest("hex").slice(0, 16)}-`;
}

const BUILT = `${KEPT_NAMES}:built-`;

/** Whether a name, as engines list it, keeps an image that was built for another stack. */
export function isBuiltForOthers(reference: string, project: string): boolean {
  return reference.startsWith(BUILT) && !reference.startsWith(builtNames(project));
}

/** Whether an image, by its names as engines list them, was built for a stack. */
export function isBuiltFor(
  { tags }: { readonly tags: readonly string[] },
  project: string,
): boolean {
  const start = builtNames(project);
  return tags.some((tag) => tag.startsWith(start));
}

/**
 * Whether nobody loses an image with its removal: it comes from a registry, or was built for the stack. Any
 * author may use, for one release, what a person built or loaded for something else, and take its names away by
 * builds that give them: so that it has none tells nothing. Containerd's store gives digests to all images, and
 * all can go there. A registry of the author's own, which has a copy, gives an image a digest as well: what was
 * there before has a name for that.
 */
export function canComeAgain(
  image: {
    readonly id: string;
    readonly tags: readonly string[];
    readonly digests: readonly string[];
  },
  project: string,
): boolean {
  if (image.tags.includes(foundName(image.id))) return false;
  return image.digests.length > 0 || isBuiltFor(image, project);
}

/** A text in which no names of what is built can be read: until the build is over, they are secret. */
export function withoutBuiltNames(text: string): string {
  return text.replaceAll(/(stackwright\/kept:built-)[\w.-]*/g, "$1…");
}

/** Whether a name, as engines list it, only keeps an image. */
export function isKeptName(reference: string): boolean {
  return reference.startsWith(`${KEPT_NAMES}:`);
}

/** Whether a reference, in any spelling, is a name that only keeps an image. */
export function namesKept(reference: string): boolean {
  return isKeptName(familiarName(reference));
}

/** A reference as engines list it: `busybox:latest` for `docker.io/library/busybox`. */
export function familiarName(reference: string): string {
  const name = reference.replace(/^(index\.)?docker\.io\//, "").replace(/^library\//, "");
  return name.includes(":", name.lastIndexOf("/") + 1) ? name : `${name}:latest`;
}

/**
 * A sentence about an invalid reference, with an empty part or with capital letters in its name;
 * `undefined` for any other. Capital letters in the registry's address and in the tag are fine. The
 * reference is quoted as it is: the redactor would not find a secret in a part of it or in lower
 * case.
 */
export function badImageName(reference: string): string | undefined {
  if (/^[:/@]|[:/@]$|\/[/:]|:[/@]/.test(reference)) {
    const told = clip(reference, 200);
    return `${told} is no name of an image: a part of it is empty, as a variable that is not set leaves it`;
  }
  if (/[^\w.\-/:@+[\]]/.test(reference)) {
    return `${
      clip(reference, 200)
    } is no name of an image: it has a space, or another character that none has`;
  }
  const [named = ""] = reference.split("@");
  const slash = named.indexOf("/");
  // Engines' own rule for an address in the first part: `Docker/app` counts as having one, too.
  const isAddress = slash > 0 && /[.:A-Z]|^localhost$/.test(named.slice(0, slash));
  const path = isAddress ? named.slice(slash + 1) : named;
  const name = path.slice(0, path.includes(":") ? path.lastIndexOf(":") : undefined);
  if (!/[A-Z]/.test(name)) return undefined;
  const but = name === reference ? "it" : "all but its registry, tag and digest";
  return `${clip(reference, 200)} is no name of an image: ${but} has to be in lower case`;
}

/**
 * A sentence about an image of doco-cd, whose containers deploy what Stackwright deploys; `undefined` for
 * any other image. A registry's copy has the same last part of its name.
 */
export function peerImage(reference: string): string | undefined {
  const [named = ""] = reference.split("@");
  if (!/(?:^|\/)doco-cd(?::[^/]*)?$/.test(named)) return undefined;
  return `${clip(reference, 200)} is doco-cd, which is not started beside Stackwright: each ` +
    "would undo the other's deployments. Take it out of what is deployed, or hold it back with pause: true; " +
    "once its other stacks have moved, destroy: true removes it, and its volumes unless " +
    "destroy.remove_volumes is false";
}

/**
 * Services with a build, out of the names of all that have one, that newer versions of docker compose
 * mix up with another one, each with a sentence. To buildx their names are the same, with `_` for `.`:
 * one of the two is built, and the other one runs its old image although its inputs changed.
 */
export function mixedUpBuilds(built: readonly string[]): { service: string; why: string }[] {
  const first = new Map<string, string>();
  return [...new Set(built)].flatMap((service) => {
    const other = first.getOrInsertComputed(service.replaceAll(".", "_"), () => service);
    if (other === service) return [];
    const why =
      `docker compose builds only one of ${other} and ${service}, as it writes _ for each ` +
      "dot of their names: give one of the two services another name";
    return [{ service, why }];
  });
}
