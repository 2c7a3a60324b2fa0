import type { NetworkFacts, ResourceSummary } from "../docker/engine.ts";
import { type ComposeModel, StackwrightError } from "../model/mod.ts";
import { isObject, type JsonObject, objectAt, objectsAt, textAt } from "../compose/mod.ts";

/**
 * Refuses a model that defines a network differently from the one that exists under its name. The
 * engine cannot change a network; compose, by its version, goes on with the old one in silence, or
 * makes it anew and connects containers that then are not found by name any more. A network that is
 * not `internal` although the commit says so would be worse than a failed deployment.
 *
 * What only the engine chose, like a subnet that nobody asked for, is no difference. `existing` are
 * the project's networks. Throws `conflict`, which names the keys and shows no value.
 */
export function requireSameNetworks(
  model: ComposeModel,
  existing: readonly ResourceSummary[],
): void {
  for (const [key, definition] of Object.entries(objectAt(model, "networks"))) {
    const wanted = isObject(definition) ? definition : {};
    if (wanted["external"] === true) continue;
    const network = existing.find((each) => each.name === textAt(wanted, "name"));
    if (network?.network === undefined) continue;
    const changed = differences(wanted, network, network.network);
    if (changed.length === 0) continue;
    throw new StackwrightError(
      "conflict",
      `networks.${key}: network ${network.name} exists with another ${changed.join(", ")}, and ` +
        `Docker cannot change a network that is in use, so nothing was touched; give the changed ` +
        `network another name (networks.${key}.name), which replaces the services that use it, or ` +
        `stop the stack, remove its containers and the network (docker network rm ` +
        `${network.name}) and deploy it again`,
    );
  }
}

/** The keys of the definition that the network was not made with. */
function differences(
  wanted: JsonObject,
  { driver, options = {} }: ResourceSummary,
  made: NetworkFacts,
): string[] {
  const asked = objectAt(wanted, "driver_opts");
  const flag = (name: string, is: boolean) =>
    typeof wanted[name] === "boolean" && wanted[name] !== is;
  return [
    ...(["", "default", driver].includes(textAt(wanted, "driver")) ? [] : ["driver"]),
    // What is not written is false here, and a promise of safety when it is.
    ...((wanted["internal"] === true) === made.internal ? [] : ["internal"]),
    ...(flag("attachable", made.attachable) ? ["attachable"] : []),
    ...(flag("enable_ipv6", made.ipv6) ? ["enable_ipv6"] : []),
    // The engine adds options of its own, so only those that are asked for are looked at.
    ...Object.keys(asked).sort().filter((name) => String(asked[name]) !== options[name])
      .map((name) => `driver_opts.${name}`),
    ...(objectsAt(objectAt(wanted, "ipam"), "config").every((pool) => hasPool(made, pool))
      ? []
      : ["ipam.config"]),
  ];
}

function hasPool({ pools }: NetworkFacts, wanted: JsonObject): boolean {
  const subnet = textAt(wanted, "subnet");
  // IPv6 has many ways to write one address; what cannot be compared is taken for the same.
  if (subnet === "" || subnet.includes(":")) return true;
  const matches = (written: string, is: string) => written === "" || written === is;
  return pools.some((pool) =>
    networkOf(pool.subnet) === networkOf(subnet) &&
    matches(textAt(wanted, "gateway"), pool.gateway) &&
    (textAt(wanted, "ip_range") === "" ||
      networkOf(textAt(wanted, "ip_range")) === networkOf(pool.range))
  );
}

/** An IPv4 range without what its mask hides, as a number and the length of the mask. */
function networkOf(range: string): string {
  const [address = "", length = "32"] = range.split("/");
  const parts = address.split(".").map(Number);
  const whole = parts.reduce((sum, part) => sum * 256 + part, 0);
  const size = 2 ** (32 - Number(length));
  return `${Math.floor(whole / size)}/${Number(length)}`;
}
