import { listOf, SHARES } from "../model/mod.ts";
import { isObject, type JsonObject, objectAt, textAt } from "./model.ts";

/**
 * The services whose replacement must replace this one too, with the reason. Compose versions differ
 * in what they do here by themselves, so it is decided here: a container that shares a namespace
 * with a replaced one keeps running in a dead one, and `restart: true` asks for it.
 */
export function followsOf(service: JsonObject): Record<string, string> {
  const follows: Record<string, string> = {};
  for (const [name, dependency] of Object.entries(objectAt(service, "depends_on"))) {
    if (isObject(dependency) && dependency["restart"] === true) {
      follows[name] = `depends on ${name} with restart: true`;
    }
  }
  return { ...follows, ...sharesOf(service) };
}

/** Those of them with whose containers its own share something, with the reason. */
export function sharesOf(service: JsonObject): Record<string, string> {
  const follows: Record<string, string> = {};
  for (
    const [key, what] of [["network_mode", "network"], ["ipc", "ipc"], ["pid", "pid"]] as const
  ) {
    const name = /^service:(.+)$/.exec(textAt(service, key))?.[1];
    if (name !== undefined) follows[name] = `${SHARES} ${what} namespace of ${name}`;
  }
  for (const each of listOf(service["volumes_from"])) {
    const [name] = String(each).split(":");
    if (name && name !== "container") follows[name] = `mounts the volumes of ${name}`;
  }
  return follows;
}

/** The services that must be handled before this one: its dependencies and those it follows. */
export function dependenciesOf(service: JsonObject): string[] {
  const dependencies = Object.keys(objectAt(service, "depends_on"));
  return [...new Set([...dependencies, ...Object.keys(followsOf(service))])].sort();
}

/**
 * Names in an order in which every service comes after those `before` gives for it. A cycle, which
 * compose refuses anyway, is broken at its first member.
 */
export function inOrder(
  names: readonly string[],
  before: (name: string) => readonly string[],
): string[] {
  const ordered: string[] = [];
  const known = new Set(names);
  const seen = new Set<string>();
  const visit = (name: string) => {
    if (seen.has(name)) return;
    seen.add(name);
    before(name).filter((each) => known.has(each)).forEach(visit);
    ordered.push(name);
  };
  [...names].sort().forEach(visit);
  return ordered;
}
