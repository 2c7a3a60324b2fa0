import { posix } from "node:path";
import { badImageName, isObject, mixedUpBuilds, type Problem } from "../model/mod.ts";
import {
  type ActiveProfiles,
  MOST_FILES,
  MOST_FOUND,
  type ProjectFile,
  servicesOf,
  sure,
} from "./undefined_names.ts";

/** Problems of services that are certainly deployed and have neither an image nor a build in any file. */
export function imageless(files: readonly ProjectFile[], active: ActiveProfiles): Problem[] {
  const { services, isDeployed } = servicesOf(files, active);
  return [...Map.groupBy(services, ({ name }) => name)].flatMap(([name, all]) => {
    const [first] = all;
    const isMade = ({ service }: typeof all[number]) =>
      MAKERS.some((key) => service[key] !== undefined && service[key] !== "");
    if (first === undefined || isDeployed(name) !== true || all.some(isMade)) return [];
    const where = first.lineOf();
    return [{
      ...{ file: first.file, path: `services.${name}`, ...where },
      message: "expected image or build: it has neither",
    }];
  }).slice(0, MOST_FOUND);
}

/** Invalid names of images of services that are certainly deployed; of several files the last one counts. */
export function badImages(files: readonly ProjectFile[], active: ActiveProfiles): Problem[] {
  const { services, isDeployed } = servicesOf(files, active);
  const named = services.filter(({ service: { image } }) => typeof image === "string");
  const last = new Map(named.map((each) => [each.name, each]));
  return [...last.values()].flatMap(({ name, service: { image }, file, lineOf }) => {
    const reference = String(image);
    // Values of variables are unknown here.
    if (isDeployed(name) !== true || reference.includes("$")) return [];
    const message = badImageName(reference);
    if (message === undefined) return [];
    return [{ file, path: `services.${name}.image`, ...lineOf("image"), message }];
  }).slice(0, MOST_FOUND);
}

/** Keys by which a service gets what its containers are made from. */
const MAKERS = ["image", "build", "extends", "provider"];

/**
 * The directories of the checkout in which the services that are certainly deployed are built, each with the
 * place that names it. Leaves out paths with variables, or outside of the checkout.
 */
export function buildContexts(files: readonly ProjectFile[], active: ActiveProfiles) {
  const { services, isDeployed } = servicesOf(files, active);
  const written = services.flatMap(({ name, service: { build }, file, base, lineOf }) => {
    const keys = isObject(build) ? ["build", "context"] : ["build"];
    const context = isObject(build) ? build["context"] : build;
    return context === undefined ? [] : [{ name, context, file, base, keys, lineOf }];
  });
  // Of several files the last one counts.
  const last = new Map(written.map((each) => [each.name, each]));
  return [...last.values()].flatMap(({ name, context, file, base, keys, lineOf }) => {
    const told = sure(context);
    if (isDeployed(name) !== true || told === undefined) return [];
    // Other texts may be the address of a repository.
    if (!/^(?:\.{1,2}|[\w-]+)(?:\/|$)/.test(told) || /\.git(?:#|$)/.test(told)) return [];
    const path = posix.join(base, told).replace(/\/$/, "");
    if (path.startsWith("..") || path === ".") return [];
    return [{
      file,
      path,
      where: { path: ["services", name, ...keys].join("."), ...lineOf(...keys) },
    }];
  }).slice(0, MOST_FILES);
}

/** Problems of services, certainly deployed, that newer versions of docker compose mix up when they build. */
export function mixedUpServices(files: readonly ProjectFile[], active: ActiveProfiles): Problem[] {
  const { services, isDeployed } = servicesOf(files, active);
  const built = services.filter(({ name, service }) =>
    (service["build"] ?? undefined) !== undefined && isDeployed(name) === true
  );
  const written = new Map(built.toReversed().map((each) => [each.name, each]));
  return mixedUpBuilds(built.map(({ name }) => name)).slice(0, MOST_FOUND).map(
    ({ service, why }) => {
      const { file = "", lineOf } = written.get(service) ?? {};
      return { file, path: `services.${service}`, ...lineOf?.(), message: why };
    },
  );
}
