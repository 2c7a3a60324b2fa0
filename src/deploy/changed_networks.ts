import type { NetworkFacts, NetworkRange, ResourceSummary } from "../docker/engine.ts";
import { type ComposeModel, STACK_NAMESPACE } from "../model/mod.ts";
import { type JsonObject, objectAt, objectsAt, textAt, textMapAt } from "../compose/mod.ts";
import { isAddress6 } from "../system/mod.ts";
import { plainResourcesOf } from "./engine/plain_dollars.ts";

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
 * Settings that only the engine chose, like a subnet that nobody asked for, are no difference: what
 * is taken back is known by the model of the release `before`, where there is one. Networks that
 * people made keep what no release asked for. `existing` are the project's networks.
 */
export function changedNetworks(
  model: ComposeModel,
  existing: readonly ResourceSummary[],
  before?: () => ComposeModel | undefined,
): ChangedNetwork[] {
  // Networks may share a name: the first one counts.
  const byName = new Map(existing.toReversed().map((each) => [each.name, each]));
  const there = plainResourcesOf(model, "networks").flatMap(({ external, ...wanted }) => {
    const found = external ? undefined : byName.get(wanted.name);
    return found?.network === undefined ? [] : [{ wanted, found, made: found.network }];
  });
  const had = there.length > 0 && before?.() || {};
  const asked = new Map(
    plainResourcesOf(had, "networks").toReversed().filter(({ external }) => !external)
      .map(({ name, definition }) => [name, definition]),
  );
  return there.flatMap(({ wanted: { key, name, definition }, found, made }) => {
    const changed = differences(definition, asked.get(name), settingsMade(found, made));
    return changed.length === 0 ? [] : [{ key, name, id: found.id, changed }];
  });
}

/** Settings of a network by their path in the definition, followed by the range for those of a range. */
type Settings = ReadonlyMap<string, string>;

/** The keys of the definition that differ from the network, or from what it was made with. */
function differences(
  definition: JsonObject,
  definedBefore: JsonObject | undefined,
  made: Settings,
): string[] {
  const wanted = settingsOf(definition);
  const before = definedBefore && settingsOf(definedBefore);
  const changed = [...wanted].filter(([name, value]) =>
    made.get(name) !== value && (isTold(name) || (before && before.get(name) !== value))
  );
  const takenBack = [...before ?? []].filter(([name, value]) =>
    !wanted.has(name) && made.get(name) === value && made.get(`usual ${name}`) !== value
  );
  return [...new Set([...changed, ...takenBack].map(([name]) => name.split(RANGE)[0] ?? ""))]
    .sort();
}

const RANGE = " of range ";

/**
 * Whether every engine tells a setting as it was asked for. Others are compared only where a commit
 * changed them: a network would else be made anew by every commit.
 */
function isTold(name: string): boolean {
  if (name.startsWith("ipam.config")) return !name.includes(":") && !name.includes("aux_addresses");
  return name !== "enable_ipv4" && name !== "ipam.driver" && !name.startsWith("ipam.options.");
}

/** What a definition asks for. */
function settingsOf(definition: JsonObject): Settings {
  const flags = ["attachable", "enable_ipv4", "enable_ipv6"].filter((name) =>
    typeof definition[name] === "boolean"
  );
  const ipam = objectAt(definition, "ipam");
  const drivers = [["driver", definition], ["ipam.driver", ipam]] as const;
  return new Map([
    ...drivers.map(([name, { driver }]) => [name, String(driver ?? "")] as const)
      .filter(([, driver]) => driver !== "" && driver !== "default"),
    // `internal` is a promise of safety, so leaving it out counts as false.
    ["internal", String(definition["internal"] === true)],
    ...flags.map((name) => [name, String(definition[name])] as const),
    ...Object.entries(textMapAt(definition, "driver_opts")).map(optionNamed),
    ...Object.entries(textMapAt(ipam, "options")).map(([name, value]) =>
      [`ipam.options.${name}`, value] as const
    ),
    ...objectsAt(ipam, "config").flatMap((pool) =>
      rangeSettings({
        subnet: textAt(pool, "subnet"),
        gateway: textAt(pool, "gateway"),
        range: textAt(pool, "ip_range"),
        others: textMapAt(pool, "aux_addresses"),
      })
    ),
  ]);
}

/** What a network was made with, and what it would be unasked. */
function settingsMade(
  { driver, labels, options = {} }: ResourceSummary,
  made: NetworkFacts,
): Settings {
  return new Map([
    ["driver", driver],
    ["ipam.driver", made.ipamDriver ?? ""],
    ["internal", String(made.internal)],
    ["attachable", String(made.attachable)],
    ["enable_ipv4", String(made.ipv4)],
    ["enable_ipv6", String(made.ipv6)],
    ["usual driver", labels[STACK_NAMESPACE] === undefined ? "bridge" : "overlay"],
    ["usual attachable", "false"],
    ["usual enable_ipv4", "true"],
    ["usual enable_ipv6", "false"],
    ...Object.entries(options).map(optionNamed),
    ...Object.entries(made.ipamOptions ?? {}).map(([name, value]) =>
      [`ipam.options.${name}`, value] as const
    ),
    ...made.pools.flatMap(rangeSettings),
  ]);
}

function optionNamed([name, value]: [string, string]) {
  return [`driver_opts.${name}`, value] as const;
}

function rangeSettings(pool: NetworkRange): (readonly [string, string])[] {
  // Without a range of its own it says nothing that could be compared.
  if (pool.subnet === "") return [];
  const at = `${RANGE}${networkOf(pool.subnet)}`;
  const range = pool.range === "" ? "" : networkOf(pool.range);
  const texts = [
    ["gateway", pool.gateway],
    ["ip_range", range],
    ...Object.entries(pool.others ?? {})
      .map(([name, address]) => [`aux_addresses.${name}`, address] as const),
  ] as const;
  return [
    [`ipam.config${at}`, ""],
    ...texts.filter(([, text]) => text !== "")
      .map(([name, text]) => [`ipam.config${at} ${name}`, canonical(text)] as const),
  ];
}

/** A range with the number of its network, for IPv4, and the length of its mask. */
function networkOf(range: string): string {
  const [address = "", length = "32"] = range.split("/");
  if (isAddress6(address)) return `${canonical(address)}/${length}`;
  const parts = address.split(".").map(Number);
  const whole = parts.reduce((sum, part) => sum * 256 + part, 0);
  const size = 2 ** (32 - Number(length));
  return `${Math.floor(whole / size)}/${Number(length)}`;
}

/** An address as it is written shortest: an IPv6 one can be written in many ways. */
function canonical(address: string): string {
  return isAddress6(address) ? URL.parse(`http://[${address}]`)?.hostname ?? address : address;
}
