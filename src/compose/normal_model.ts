import type { ComposeModel } from "../model/mod.ts";
import { isSince } from "./is_since.ts";
import {
  isObject,
  type JsonObject,
  mapMounts,
  mapServices,
  objectsAt,
  servicesOf,
} from "./model.ts";

/**
 * The meaning of a missing `create_host_path` in a printed model: compose 2 prints it only if it is
 * true, compose 5 only if it is false. `unclear` if no bind has it.
 */
export function bindsSay(model: ComposeModel): "nothing" | "false" | "true" | "unclear" {
  const binds = Object.values(servicesOf(model)).flatMap(bindsOf);
  if (binds.length === 0) return "nothing";
  if (binds.some((bind) => bind["create_host_path"] === true)) return "false";
  return binds.some((bind) => bind["create_host_path"] === false) ? "true" : "unclear";
}

/** Whether a version of compose creates the host path of a bind by default. */
export function makesPathsByDefault(version: string): boolean {
  return isSince(version, [5, 0]);
}

/** Whether a version of compose builds by the plugin buildx alone. */
export function buildsByBuildx(version: string): boolean {
  return isSince(version, [5, 0]);
}

/**
 * A printed model in the form that is recorded and digested, independent of compose's version:
 * `create_host_path` appears if it is true, optional dependencies only if they exist, and files of
 * labels and variables as what they say alone. `byDefault` is its value for binds without it.
 */
export function normalModel(model: ComposeModel, byDefault: boolean): ComposeModel {
  const names = new Set(Object.keys(servicesOf(model)));
  return withServices(model, (service) => {
    const binds = byDefault ? mapBinds(service, trueWhereUnsaid) : service;
    return withoutFiles(withoutMissing(binds, names));
  });
}

/** A recorded model for any version of compose: each bind has `create_host_path`. */
export function withExplicitBinds(model: ComposeModel): ComposeModel {
  return withServices(
    model,
    (service) => mapBinds(service, (bind) => ({ create_host_path: false, ...bind })),
  );
}

/**
 * The service without files whose lines are among its labels and variables already. Compose 5 prints
 * their paths, in which the commit stands, and would read them again when it makes containers.
 */
function withoutFiles({ label_file: _labels, env_file: _variables, ...service }: JsonObject) {
  return service;
}

function trueWhereUnsaid({ create_host_path, ...rest }: JsonObject): JsonObject {
  return create_host_path === false ? rest : { ...rest, create_host_path: true };
}

/** The service without optional dependencies whose profile is off: compose refuses missing ones. */
function withoutMissing(service: JsonObject, names: ReadonlySet<string>): JsonObject {
  const { depends_on: dependencies, ...rest } = service;
  if (!isObject(dependencies)) return service;
  const entries = Object.entries(dependencies);
  const kept = entries.filter(([name, each]) =>
    names.has(name) || !isObject(each) || each["required"] !== false
  );
  if (kept.length === entries.length) return service;
  return kept.length === 0 ? rest : { ...rest, depends_on: Object.fromEntries(kept) };
}

function bindsOf(service: JsonObject): JsonObject[] {
  return objectsAt(service, "volumes").flatMap((volume) =>
    isObject(volume["bind"]) ? [volume["bind"]] : []
  );
}

function mapBinds(service: JsonObject, change: (bind: JsonObject) => JsonObject): JsonObject {
  return mapMounts(
    service,
    (mount) => isObject(mount["bind"]) ? { ...mount, bind: change(mount["bind"]) } : mount,
  );
}

function withServices(model: ComposeModel, change: (service: JsonObject) => JsonObject) {
  return isObject(model["services"]) ? mapServices(model, change) : model;
}
