import { createHash } from "node:crypto";
import { isObject, type JsonObject, mapMounts } from "../../compose/model.ts";
import { isSince } from "../../compose/is_since.ts";
import { makesPathsByDefault } from "../../compose/normal_model.ts";

/** Keys outside of a service's hash in every version of compose, and additionally in newer ones. */
const NEVER = ["build", "pull_policy", "scale"];
const NOT_NEWER = ["depends_on", "profiles"];
/** The first of the newer versions; unknown ones count as newer, too. */
const NEWER = [2, 31] as const;

/**
 * The hash by which compose tells whether a container matches its file: with it, a manual `up`
 * leaves the container alone. Without any hash, compose's `ps`, `logs` and `down` do not see it.
 *
 * `service` is as rendered, with plain dollars, without labels of ours, and with container ids
 * where it names other services.
 */
export function configHash(service: JsonObject, composeVersion: string): string {
  const left = [...NEVER, ...(isSince(composeVersion, NEWER, true) ? NOT_NEWER : [])];
  const printed = makesPathsByDefault(composeVersion) ? withoutUsualPaths(service) : service;
  const entries = Object.entries(printed).filter(([key]) => !left.includes(key));
  return createHash("sha256").update(goJson(Object.fromEntries(entries))).digest("hex");
}

/** Binds as compose 5 prints them, which mentions `create_host_path` only if it is false. */
function withoutUsualPaths(service: JsonObject): JsonObject {
  return mapMounts(service, (mount) => {
    if (!isObject(mount["bind"])) return mount;
    const { create_host_path: made, ...bind } = mount["bind"];
    return { ...mount, bind: made === true ? bind : { create_host_path: false, ...bind } };
  });
}

/** JSON as Go writes it: JavaScript would move keys like numbers to the front. */
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
