import {
  type ComposeModel,
  isObject,
  type JsonObject,
  listOf,
  own,
  recordOf,
} from "../model/mod.ts";

export { isObject, type JsonObject, recordOf };

/** The object under `key`, or an empty one. */
export function objectAt(value: JsonObject, key: string): JsonObject {
  return recordOf(own(value, key));
}

/** The objects in the list under `key`; other entries are left out. */
export function objectsAt(value: JsonObject, key: string): JsonObject[] {
  return listOf(own(value, key)).filter(isObject);
}

/** The text under `key`, or an empty one. */
export function textAt(value: JsonObject, key: string): string {
  const found = own(value, key);
  return typeof found === "string" ? found : "";
}

/** The services of a rendered model by name, without a prototype that has further names. */
export function servicesOf(model: ComposeModel): Readonly<Record<string, JsonObject>> {
  const services = objectAt(model, "services");
  const found = Object.fromEntries(
    Object.entries(services).filter((entry): entry is [string, JsonObject] => isObject(entry[1])),
  );
  return Object.setPrototypeOf(found, null);
}

/** A rendered model with each of its services changed. */
export function mapServices(
  model: ComposeModel,
  change: (service: JsonObject, name: string) => JsonObject,
): ComposeModel {
  const services = Object.entries(servicesOf(model))
    .map(([name, service]) => [name, change(service, name)]);
  return { ...model, services: Object.fromEntries(services) };
}

/** A service with each of its mounts changed; mounts that are no objects stay as they are. */
export function mapMounts(service: JsonObject, change: (mount: JsonObject) => unknown): JsonObject {
  const { volumes } = service;
  if (!Array.isArray(volumes)) return service;
  return { ...service, volumes: volumes.map((each) => isObject(each) ? change(each) : each) };
}

/** One service of a rendered model; empty for an unknown name. */
export function serviceOf(model: ComposeModel, name: string): JsonObject {
  return objectAt(objectAt(model, "services"), name);
}

/** The labels of a service, network or volume; compose prints them as a map. */
export function labelsOf(object: JsonObject): Readonly<Record<string, string>> {
  return textMapAt(object, "labels");
}

/** A mapping at a key with its values as text; empty for anything else. */
export function textMapAt(object: JsonObject, key: string): Readonly<Record<string, string>> {
  const entries = Object.entries(objectAt(object, key));
  return Object.fromEntries(entries.map(([name, value]) => [name, String(value)]));
}

/** JSON with sorted keys: equal values give equal texts. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  if (!isObject(value)) return JSON.stringify(value) ?? "null";
  const members = Object.keys(value).filter((key) => value[key] !== undefined).sort()
    .map((key) => `${JSON.stringify(key)}:${canonicalJson(value[key])}`);
  return `{${members.join(",")}}`;
}

/**
 * A printed model with keys as their author wrote them: compose doubles dollars in its output, and
 * undoes that in values only, so a label's name would grow with each rendering.
 */
export function withPlainKeys<T>(value: T): T;
export function withPlainKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map((each) => withPlainKeys(each));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [key.replaceAll("$$", "$"), withPlainKeys(inner)]),
  );
}

/** Texts of a list, or of a map as `key=value`. */
export function textsOf(value: unknown): string[] {
  if (Array.isArray(value)) {
    return value.flatMap((each) =>
      typeof each === "string" ? [each] : isObject(each) ? textsOf(each) : []
    );
  }
  return isObject(value)
    ? Object.entries(value).map(([key, each]) => `${key}=${each === null ? "" : String(each)}`)
    : [];
}
