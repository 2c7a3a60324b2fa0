import { stringify } from "yaml";
import { LABELS, SWARM_TASK } from "../model/mod.ts";

type Value = unknown;

/** Characters of a model that are written in the words of its author; longer ones stay JSON: that is quick. */
const LONGEST = 1 << 20;

/** Labels that we put on everything; those by which authors steer a deployment are not among them. */
const OURS: ReadonlySet<string> = new Set([...Object.values(LABELS), SWARM_TASK]);

/**
 * A rendered model, as JSON, in the words of its author: YAML without our labels, without what compose
 * adds to every model, and with paths of the checkout as they were written. Other text is returned as
 * it is, and a model of more than a mebibyte.
 */
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

/** Without our labels, and without what says nothing: nulls and empty objects. */
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

/** Where a release's files lie is our business; their author knows them by their path in the source. */
function pathOf(text: string): string {
  return text.replace(/^\/(?:[^/]+\/)*releases\/[^/]+\/[^/]+\/(?:current|live)(\/|$)/, "./");
}

/** The short form of a mount that says no more than that form can. */
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

/** Compose writes down the network that every project has. */
function withoutDefaultNetwork(model: Record<string, Value>): Record<string, Value> {
  const { networks, ...rest } = model;
  const { default: own, ...others } = (networks ?? {}) as Record<string, Value>;
  const isUsual = JSON.stringify(own) === JSON.stringify({ name: `${model["name"]}_default` });
  if (!isUsual && own !== undefined) return model;
  return Object.keys(others).length === 0 ? rest : { ...rest, networks: others };
}
