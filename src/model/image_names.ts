import type { ReleaseService } from "./release.ts";

/** An image with the name under which a release records which one it ran. */
export interface NamedImage {
  /** The service's for its own; for one beside it `web/tool:1`, which no service is called. */
  readonly name: string;
  /** As the model refers to it. */
  readonly image: string;
}

/** The images that a service needs beside its own: of its hooks, and mounted ones. */
export function imagesBeside(
  { name, sideImages = [] }: Pick<ReleaseService, "name" | "sideImages">,
): readonly NamedImage[] {
  return sideImages.map((image) => ({ name: `${name}/${image}`, image }));
}

/** All images that a service needs, its own last. */
export function imagesOf(
  service: Pick<ReleaseService, "name" | "image" | "sideImages">,
): readonly NamedImage[] {
  return [...imagesBeside(service), { name: service.name, image: service.image }];
}

/** Place of the names that keep images in stores that drop those without one; nobody pulls from there. */
export const KEPT_NAMES = "stackwright/kept";

/** The name by which an image is kept that a build takes its own from, by its id. */
export function keptName(id: string): string {
  return `${KEPT_NAMES}:${id.slice(id.indexOf(":") + 1)}`;
}

/** Whether a name, as engines list it, is there only to keep an image. */
export function isKeptName(reference: string): boolean {
  return reference.startsWith(`${KEPT_NAMES}:`);
}

/** Whether a reference, however it is written, is such a name. */
export function namesKept(reference: string): boolean {
  return isKeptName(familiarName(reference));
}

/** A reference as engines list it: `busybox:latest` for `docker.io/library/busybox`. */
export function familiarName(reference: string): string {
  const name = reference.replace(/^(index\.)?docker\.io\//, "").replace(/^library\//, "");
  return name.includes(":", name.lastIndexOf("/") + 1) ? name : `${name}:latest`;
}

/**
 * A sentence about a reference with an empty part, or whose name has capital letters, which engines
 * refuse; `undefined` for any other. Capital letters of a registry's address and of a tag are fine. It
 * quotes the reference as it is: it may hold a secret by mistake, of which nobody knows a part, or how
 * it looks in lower case.
 */
export function badImageName(reference: string): string | undefined {
  if (/^[:/@]|[:/@]$|\/[/:]|:[/@]/.test(reference)) {
    const told = reference.slice(0, 200);
    return `${told} is no name of an image: a part of it is empty, as a variable that is not set leaves it`;
  }
  const [named = ""] = reference.split("@");
  const slash = named.indexOf("/");
  // As engines tell an address from the first part of a name: they take `Docker/app` for one, too.
  const isAddress = slash > 0 && /[.:A-Z]|^localhost$/.test(named.slice(0, slash));
  const path = isAddress ? named.slice(slash + 1) : named;
  const name = path.slice(0, path.includes(":") ? path.lastIndexOf(":") : undefined);
  if (!/[A-Z]/.test(name)) return undefined;
  const but = name === reference ? "it" : "all but its registry, tag and digest";
  return `${reference.slice(0, 200)} is no name of an image: ${but} has to be in lower case`;
}
