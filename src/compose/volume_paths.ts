import { isAbsolute, resolve } from "node:path/posix";
import type { ComposeModel } from "../model/mod.ts";
import { isObject, type JsonObject, objectAt, textAt } from "./model.ts";
import type { FollowedPath, FollowedPaths } from "./followed_path.ts";

/** The volumes of a project that lie on the host, whose paths are added to `paths`. */
export function volumesOf(model: ComposeModel, paths: FollowedPath[]): FollowedPaths["volumes"] {
  return Object.entries(objectAt(model, "volumes")).map(([key, volume]) => {
    const definition = isObject(volume) ? volume : {};
    const options = objectAt(definition, "driver_opts");
    const device = deviceOf(options);
    if (device !== undefined) paths.push({ what: `volumes.${key}`, path: device, by: "engine" });
    for (const path of pathsInOptions(options)) {
      paths.push({ what: `volumes.${key}.driver_opts`, path, by: "engine", everywhere: true });
    }
    return { what: `volumes.${key}`, name: textAt(definition, "name") || key };
  });
}

/** File systems whose device is no path of the host. */
const ELSEWHERE = /^(?:tmpfs|overlay|nfs\d?|cifs|smb3|ceph|glusterfs)$/;

/** What a volume is mounted from; the engine's working directory is the root. */
function deviceOf(options: JsonObject): string | undefined {
  const device = textAt(options, "device");
  if (device === "") return undefined;
  if (isAbsolute(device)) return resolve(device);
  return ELSEWHERE.test(textAt(options, "type")) ? undefined : resolve("/", device);
}

/**
 * Paths in options of a volume besides its device: layers of an overlay, places of other drivers. They
 * are read as the kernel reads them: a backslash keeps the next character, the working directory is
 * the root.
 */
function pathsInOptions(options: JsonObject): string[] {
  const others = Object.entries(options).filter(([key]) => key !== "device" && key !== "type");
  return others.flatMap(([, value]) => {
    const text = typeof value === "string" ? value.replaceAll("\\", "") : "";
    return text.split(",").flatMap((option) => {
      const isLayer = /^\s*(?:lowerdir|upperdir|workdir|datadir)\+?=/.test(option);
      const parts = option.split(/[:=;\s]+/);
      const found = isLayer ? parts.slice(1) : parts.filter((part) => part.includes("/"));
      return found.filter((part) => part !== "").map((part) => resolve("/", part));
    });
  });
}
