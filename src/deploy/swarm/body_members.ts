import type { TaskContainerBody } from "../../docker/swarm_bodies.ts";
import { type JsonObject, textAt } from "../../compose/mod.ts";
import { texts } from "./swarm_keys.ts";

/** A member from a text, where there is one. */
export function text<Name extends keyof TaskContainerBody>(
  service: JsonObject,
  key: string,
  name: Name,
) {
  const value = textAt(service, key);
  return value === "" ? {} : { [name]: value };
}

/** A member where a key is true. */
export function flag<Name extends keyof TaskContainerBody>(
  service: JsonObject,
  key: string,
  name: Name,
) {
  return service[key] === true ? { [name]: true } : {};
}

/** An empty list is not the same as none: it takes away what the image says. */
export function list<Name extends keyof TaskContainerBody>(
  service: JsonObject,
  key: string,
  name: Name,
) {
  return Array.isArray(service[key]) ? { [name]: texts(service, key) } : {};
}

/** A member from a list of texts, where it is not empty. */
export function words<Name extends keyof TaskContainerBody>(
  service: JsonObject,
  key: string,
  name: Name,
) {
  const values = texts(service, key);
  return values.length === 0 ? {} : { [name]: values };
}

/** A member, where there is a value for it. */
export function optional<Name extends string, Value>(name: Name, value: Value | undefined) {
  return value === undefined ? {} : { [name]: value } as Record<Name, Value>;
}

/** A member, where its list is not empty. */
export function some<Name extends string>(name: Name, values: readonly string[]) {
  return values.length === 0 ? {} : { [name]: values } as Record<Name, readonly string[]>;
}
