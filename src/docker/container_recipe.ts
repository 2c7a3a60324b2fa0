import { type EngineApi, pathName } from "./api.ts";
import { asList, asRecord, asText, asTextList, type JsonRecord } from "./json.ts";
import { asAnyName, asLabels, asName, LONGEST_ID } from "./told.ts";

/** Everything needed to make a removed container again; never show it, as it may hold secrets. */
export interface ContainerRecipe {
  readonly id: string;
  readonly name: string;
  readonly runs: boolean;
  readonly labels: Readonly<Record<string, string>>;
  readonly imageId: string;
  /** Body of the request that makes it. */
  readonly body: JsonRecord;
}

/** A container's recipe, which names its anonymous volumes; `undefined` for a missing container. */
export async function containerRecipe(
  api: EngineApi,
  id: string,
  signal: AbortSignal,
): Promise<ContainerRecipe | undefined> {
  const answer = await api.find(`/containers/${pathName(id)}/json`, signal);
  if (answer === undefined) return undefined;
  const fullId = asName(answer["Id"], LONGEST_ID);
  const networkMode = asText(asRecord(answer["HostConfig"])["NetworkMode"]);
  const config = ownConfig(asRecord(answer["Config"]), { id: fullId, networkMode });
  const NetworkingConfig = { EndpointsConfig: endpointsOf(answer) };
  return {
    id: fullId,
    name: asAnyName(asText(answer["Name"]).replace(/^\//, "")),
    runs: asRecord(answer["State"])["Running"] === true,
    labels: asLabels(config["Labels"]),
    imageId: asAnyName(answer["Image"]),
    body: { ...config, HostConfig: hostConfigOf(answer), NetworkingConfig },
  };
}

/** A container's configuration, without values that the engine generated. */
function ownConfig(
  { Hostname, Domainname, MacAddress, ExposedPorts, ...config }: JsonRecord,
  { id, networkMode }: { readonly id: string; readonly networkMode: string },
): JsonRecord {
  // These fields belong to the container whose network is shared, and the engine refuses them.
  if (networkMode.startsWith("container:")) return config;
  const hostname = id.startsWith(asText(Hostname)) ? {} : { Hostname };
  return { ...config, ...hostname, Domainname, MacAddress, ExposedPorts };
}

/** The host configuration with anonymous volumes by name, so that a new container keeps them. */
function hostConfigOf(answer: JsonRecord): JsonRecord {
  const config = asRecord(answer["HostConfig"]);
  const binds = asTextList(config["Binds"]);
  const mounted = asList(answer["Mounts"]).map(asRecord);
  // An engine may tell of hundreds of thousands.
  const places = new Map(mounted.toReversed().map((each) => [each["Destination"], each]));
  const mounts = asList(config["Mounts"]).map(asRecord).map((mount) => {
    if (mount["Type"] !== "volume" || asText(mount["Source"]) !== "") return mount;
    const made = places.get(mount["Target"]);
    return made === undefined ? mount : { ...mount, Source: asText(made["Name"]) };
  });
  const known = new Set([
    ...binds.map((each) => each.split(":")[1]),
    ...mounts.map((each) => asText(each["Target"])),
  ]);
  const anonymous = mounted.filter((mount) =>
    mount["Type"] === "volume" && !known.has(asText(mount["Destination"]))
  ).map((mount) => `${asText(mount["Name"])}:${asText(mount["Destination"])}`);
  return { ...config, Binds: [...binds, ...anonymous], Mounts: mounts };
}

function endpointsOf(answer: JsonRecord): JsonRecord {
  const networks = asRecord(asRecord(answer["NetworkSettings"])["Networks"]);
  const short = asText(answer["Id"]).slice(0, 12);
  return Object.fromEntries(
    Object.entries(networks).map(([name, each]) => {
      const { Aliases: aliases, IPAMConfig, Links, DriverOpts } = asRecord(each);
      const Aliases = asTextList(aliases).filter((alias) => alias !== short);
      return [name, { Aliases, IPAMConfig, Links, DriverOpts }];
    }),
  );
}
