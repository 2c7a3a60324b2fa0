import type { NetworkFacts, ResourceSummary } from "../docker/engine.ts";
import type { ComposeModel } from "../model/mod.ts";
import { type JsonObject, objectAt, objectsAt, resourcesOf, textAt } from "../compose/mod.ts";

/** A network of the project that the model defines differently from the one that exists. */
export interface ChangedNetwork {
  /** Its key in the model. */
  readonly key: string;
  readonly name: string;
  readonly id: string;
  /** The keys of the definition that differ; no values. */
  readonly changed: readonly string[];
}

/**
 * The networks that a model defines differently from existing ones of the same name. The engine
 * cannot change a network; compose, depending on its version, silently keeps the old one, or makes
 * it anew and connects containers that are then not found by name any more. A network that is not
 * `internal` although the commit says so would be worse than a failed deployment.
 *
 * Settings that only the engine chose, like a subnet that nobody asked for, are no difference.
 * `existing` are the project's networks.
 */
export function changedNetworks(
  model: ComposeModel,
  existing: readonly ResourceSummary[],
): ChangedNetwork[] {
  // Networks may share a name: the first one counts.
  const byName = new Map(existing.toReversed().map((each) => [each.name, each]));
  return resourcesOf(model, "networks").flatMap(({ key, name, external, definition }) => {
    const found = external ? undefined : byName.get(name);
    if (found?.network === undefined) return [];
    const changed = differences(definition, found, found.network);
    return changed.length === 0 ? [] : [{ key, name: found.name, id: found.id, changed }];
  });
}

/** The keys of the definition that differ from the network. */
function differences(
  wanted: JsonObject,
  { driver, options = {} }: ResourceSummary,
  made: NetworkFacts,
): string[] {
  const asked = objectAt(wanted, "driver_opts");
  const flag = (name: string, is: boolean) => wanted[name] === !is;
  const pools = objectsAt(objectAt(wanted, "ipam"), "config");
  return [
    ...(["", "default", driver].includes(textAt(wanted, "driver")) ? [] : ["driver"]),
    // `internal` is a promise of safety, so leaving it out counts as false.
    ...((wanted["internal"] === true) === made.internal ? [] : ["internal"]),
    ...(flag("attachable", made.attachable) ? ["attachable"] : []),
    ...(flag("enable_ipv6", made.ipv6) ? ["enable_ipv6"] : []),
    // The engine adds options of its own, so only requested ones are compared.
    ...Object.keys(asked).sort().filter((name) => String(asked[name]) !== options[name])
      .map((name) => `driver_opts.${name}`),
    ...(pools.every((pool) => hasPool(made, pool)) ? [] : ["ipam.config"]),
  ];
}

function hasPool({ pools }: NetworkFacts, wanted: JsonObject): boolean {
  const subnet = textAt(wanted, "subnet");
  // An IPv6 address can be written in many ways, so it is not compared and counts as equal.
  if (subnet === "" || subnet.includes(":")) return true;
  const matches = (written: string, is: string) => written === "" || written === is;
  return pools.some((pool) =>
    networkOf(pool.subnet) === networkOf(subnet) &&
    matches(textAt(wanted, "gateway"), pool.gateway) &&
    (textAt(wanted, "ip_range") === "" ||
      networkOf(textAt(wanted, "ip_range")) === networkOf(pool.range))
  );
}

/** An IPv4 range as a network number and the length of its mask. */
function networkOf(range: string): string {
  const [address = "", length = "32"] = range.split("/");
  const parts = address.split(".").map(Number);
  const whole = parts.reduce((sum, part) => sum * 256 + part, 0);
  const size = 2 ** (32 - Number(length));
  return `${Math.floor(whole / size)}/${Number(length)}`;
}
