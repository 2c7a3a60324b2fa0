import { stringify } from "yaml";
import { LABELS, SWARM_TASK } from "../model/mod.ts";

type Value = unknown;

/** Most characters of a model that is converted to YAML; larger ones stay JSON, which costs nothing. */
const LONGEST = 1 << 20;

/** Labels that Stackwright adds to every resource; labels that authors set are not among them. */
const OURS: ReadonlySet<string> = new Set([...Object.values(LABELS), SWARM_TASK]);

/** A rendered model as YAML in its author's words; what is no JSON, or too long, stays as it is. */
export function plainModel(text: string): string {
  if (text === "") return "";
  if (text.length > LONGEST) return text;
  try {
    const model = tidied(JSON.parse(text)) as Record<string, Value> | undefined;
    return model === undefined ? "" : stringify(withoutDefaultNetwork(model), { lineWidth: 0 });
  } catch {
    return text;
  }
}

/** A value without our labels, nulls and empty objects. */
function tidied(value: Value): Value {
  if (typeof value === "string") return pathOf(value);
  if (value === null) return undefined;
  if (Array.isArray(value)) return value.map((each) => shortMount(tidied(each)) ?? each);
  if (typeof value !== "object") return value;
  const entries = Object.entries(value)
    .filter(([name]) => !OURS.has(name))
    .map(([name, field]) => [name, tidied(field)] as const)
    .filter(([, field]) => field !== undefined);
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}

/** Replaces the directory of a release by `./`: authors know files by their path in the source. */
function pathOf(text: string): string {
  return text.replace(/^\/(?:[^/]+\/)*releases\/[^/]+\/[^/]+\/(?:current|live)(\/|$)/, "./");
}

/** The short form of a mount, if that form can express it; else the mount. */
function shortMount(value: Value): Value {
  if (typeof value !== "object" || value === null) return value;
  const { type, source, target, read_only: readOnly, bind, volume, ...more } = value as Record<
    string,
    Value
  >;
  const isPlain = Object.keys(more).length === 0 && volume === undefined &&
    (bind === undefined || JSON.stringify(bind) === '{"create_host_path":true}');
  if (!isPlain || (type !== "bind" && type !== "volume")) return value;
  if (typeof source !== "string" || typeof target !== "string") return value;
  return `${source}:${target}${readOnly === true ? ":ro" : ""}`;
}

/** Removes the default network, which compose adds to every project. */
function withoutDefaultNetwork(model: Record<string, Value>): Record<string, Value> {
  const { networks, ...rest } = model;
  const { default: own, ...others } = (networks ?? {}) as Record<string, Value>;
  const isUsual = JSON.stringify(own) === JSON.stringify({ name: `${model["name"]}_default` });
  if (!isUsual && own !== undefined) return model;
  return Object.keys(others).length === 0 ? rest : { ...rest, networks: others };
}
