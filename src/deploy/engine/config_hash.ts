import { createHash } from "node:crypto";
import { isObject, type JsonObject, objectsAt } from "../../compose/model.ts";
import { makesPathsByDefault } from "../../compose/normal_model.ts";

/** The keys that are not part of a service's hash in any version of compose, and in newer ones. */
const NEVER = ["build", "pull_policy", "scale"];
const NOT_NEWER = ["depends_on", "profiles"];

/**
 * The hash by which compose knows whether a container is what its file asks for: then `up` by hand
 * leaves it alone. Without any, its `ps`, `logs` and `down` do not see the container.
 *
 * `service` is as rendered, with plain dollars, without labels of ours, and with ids of containers
 * where it names other services.
 */
export function configHash(service: JsonObject, composeVersion: string): string {
  const left = [...NEVER, ...(isNewer(composeVersion) ? NOT_NEWER : [])];
  const printed = makesPathsByDefault(composeVersion) ? withoutUsualPaths(service) : service;
  const entries = Object.entries(printed).filter(([key]) => !left.includes(key));
  return createHash("sha256").update(goJson(Object.fromEntries(entries))).digest("hex");
}

/** Whether a version leaves out what a service depends on: 2.31 or newer, and where it is not known. */
function isNewer(version: string): boolean {
  const [major = 5, minor = 0] = (/^v?(\d+)\.(\d+)/.exec(version)?.slice(1) ?? []).map(Number);
  return major > 2 || minor > 30;
}

/** Binds as compose 5 says them, which mentions only a path that is not made. */
function withoutUsualPaths(service: JsonObject): JsonObject {
  if (!Array.isArray(service["volumes"])) return service;
  return {
    ...service,
    volumes: objectsAt(service, "volumes").map((volume) => {
      if (!isObject(volume["bind"])) return volume;
      const { create_host_path: made, ...bind } = volume["bind"];
      return { ...volume, bind: made === true ? bind : { create_host_path: false, ...bind } };
    }),
  };
}

/** JSON as Go writes it: keys that look like numbers are sorted there and moved here. */
function goJson(value: unknown): string {
  return write(value).replace(
    /[<>&\u2028\u2029]/g,
    (each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

function write(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(write).join(",")}]`;
  if (!isObject(value)) return JSON.stringify(value) ?? "null";
  const keys = Object.keys(value).filter((key) => value[key] !== undefined);
  const moved = keys.some((key) => /^(?:0|[1-9]\d*)$/.test(key));
  const ordered = moved ? keys.sort() : keys;
  return `{${ordered.map((key) => `${JSON.stringify(key)}:${write(value[key])}`).join(",")}}`;
}
