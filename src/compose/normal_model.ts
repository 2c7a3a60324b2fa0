import type { ComposeModel } from "../model/mod.ts";
import { isObject, type JsonObject, mapServices, objectsAt, servicesOf } from "./model.ts";

/**
 * The meaning of binds of a printed model that do not mention `create_host_path`: compose 2 prints
 * it only where it is true, compose 5 only where it is false. `unclear` when no bind tells them
 * apart.
 */
export function bindsSay(model: ComposeModel): "nothing" | "false" | "true" | "unclear" {
  const binds = Object.values(servicesOf(model)).flatMap(bindsOf);
  if (binds.length === 0) return "nothing";
  if (binds.some((bind) => bind["create_host_path"] === true)) return "false";
  return binds.some((bind) => bind["create_host_path"] === false) ? "true" : "unclear";
}

/** From which version of compose on a bind that says nothing has its path made. */
export function makesPathsByDefault(version: string): boolean {
  return Number(/^v?(\d+)/.exec(version)?.[1] ?? 0) >= 5;
}

/**
 * A printed model in the one form that is recorded and digested, whatever version printed it:
 * `create_host_path` stands there where it is true, and optional dependencies only where they exist.
 * `byDefault` is what a bind means that does not say it.
 */
export function normalModel(model: ComposeModel, byDefault: boolean): ComposeModel {
  const names = new Set(Object.keys(servicesOf(model)));
  return withServices(model, (service) => {
    const binds = byDefault ? mapBinds(service, trueWhereUnsaid) : service;
    return withoutMissing(binds, names);
  });
}

/** A recorded model for any version of compose: each bind says whether its path is made. */
export function withExplicitBinds(model: ComposeModel): ComposeModel {
  return withServices(
    model,
    (service) => mapBinds(service, (bind) => ({ create_host_path: false, ...bind })),
  );
}

function trueWhereUnsaid({ create_host_path, ...rest }: JsonObject): JsonObject {
  return create_host_path === false ? rest : { ...rest, create_host_path: true };
}

/** A dependency whose profile is off is not in the model; compose refuses a model that names it. */
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
  const volumes = service["volumes"];
  if (!Array.isArray(volumes) || bindsOf(service).length === 0) return service;
  return {
    ...service,
    volumes: volumes.map((volume: unknown) =>
      isObject(volume) && isObject(volume["bind"])
        ? { ...volume, bind: change(volume["bind"]) }
        : volume
    ),
  };
}

function withServices(model: ComposeModel, change: (service: JsonObject) => JsonObject) {
  return isObject(model["services"]) ? mapServices(model, change) : model;
}
