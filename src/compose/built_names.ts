import { type ComposeModel, familiarName } from "../model/mod.ts";
import { isObject, objectAt, serviceOf, servicesOf, textAt, textsOf } from "./model.ts";

/** The image of a service; compose names a built one without `image` after project and service. */
export function imageReference(model: ComposeModel, service: string): string {
  const image = textAt(serviceOf(model, service), "image");
  return image !== "" ? image : `${textAt(model, "name")}-${service}`;
}

/** The name of a service's container, as compose gives it. */
export function containerName(model: ComposeModel, service: string, number: number): string {
  const chosen = textAt(serviceOf(model, service), "container_name");
  return chosen !== "" ? chosen : `${textAt(model, "name")}-${service}-${number}`;
}

/** A name with a short id in front, for containers that are being replaced. */
export const ASIDE = /^[0-9a-f]{12}_/;

/** All image names that a build of services gives, including those of services it builds on. */
export function namesBuilt(model: ComposeModel, services: readonly string[]): string[] {
  return [...new Set(servicesBuilt(model, services).flatMap((each) => namesOfBuild(model, each)))];
}

/** The services that a build of services builds: these, and those that they are built on. */
export function servicesBuilt(model: ComposeModel, services: readonly string[]): string[] {
  const found = new Set(services);
  const builtOn = buildsOn(model);
  for (const service of found) {
    for (const other of builtOn(service)) found.add(other);
  }
  return [...found];
}

function namesOfBuild(model: ComposeModel, service: string): string[] {
  const build = objectAt(serviceOf(model, service), "build");
  return [imageReference(model, service), ...textsOf(build["tags"])];
}

/**
 * The services whose builds give an image that a service names, in any spelling; the first is the one to
 * build for it. That is the service itself alone, where its own build gives the name.
 */
export function buildersOf(
  model: ComposeModel,
): (service: string, image: string) => readonly string[] {
  const builders = new Map<string, Set<string>>();
  for (const [name, { build }] of Object.entries(servicesOf(model)).sort()) {
    for (const each of isObject(build) ? namesOfBuild(model, name) : []) {
      const image = familiarName(each);
      builders.set(image, (builders.get(image) ?? new Set()).add(name));
    }
  }
  return (service, image) => {
    const found = image === "" ? undefined : builders.get(familiarName(image));
    return found?.has(service) === true ? [service] : [...found ?? []];
  };
}

/**
 * The services whose builds the build of a service takes as contexts, itself not among them. To
 * newer versions of compose `target:a_b` is another name for `service:a.b`.
 */
export function buildsOn(model: ComposeModel): (service: string) => readonly string[] {
  const targets = Map.groupBy(Object.keys(servicesOf(model)), (name) => name.replaceAll(".", "_"));
  return (service) => {
    const build = objectAt(serviceOf(model, service), "build");
    const found = Object.values(objectAt(build, "additional_contexts")).flatMap((context) => {
      const [, kind, other = ""] = /^(service|target):([^]*)$/.exec(String(context)) ?? [];
      return kind === "service" ? [other] : kind === "target" ? targets.get(other) ?? [] : [];
    });
    return [...new Set(found)].filter((each) => each !== service);
  };
}
