import { listOf, SHARES } from "../model/mod.ts";
import { isObject, type JsonObject, objectAt, textAt } from "./model.ts";

/**
 * The services whose replacement must also replace this one, with reasons. Compose's own behaviour
 * depends on its version, so it is decided here: after a replacement, a container that shares the
 * old one's namespace would stay in a dead one, and `restart: true` requests it.
 */
export function followsOf(service: JsonObject): Record<string, string> {
  const follows = byName();
  for (const [name, dependency] of Object.entries(objectAt(service, "depends_on"))) {
    if (isObject(dependency) && dependency["restart"] === true) {
      follows[name] = `depends on ${name} with restart: true`;
    }
  }
  return Object.assign(follows, sharesOf(service));
}

/** Reasons by service, of which one may have any name: `__proto__` is one. */
function byName(): Record<string, string> {
  return Object.create(null);
}

/** Services whose namespaces or volumes a service shares, with reasons. */
export function sharesOf(service: JsonObject): Record<string, string> {
  const follows = byName();
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

/** The services to handle before this one: its dependencies, and those that it follows. */
export function dependenciesOf(service: JsonObject): string[] {
  const dependencies = Object.keys(objectAt(service, "depends_on"));
  return [...new Set([...dependencies, ...Object.keys(followsOf(service))])].sort();
}

/** Names, each after its `before` services. A cycle, which compose refuses, is broken at its first member. */
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
