import { type EngineApi, pathName } from "./api.ts";
import { asList, asRecord, asText, asTextList, asTexts, type JsonRecord } from "./json.ts";

/** All it takes to make a container again that is removed: may hold secrets, never show it. */
export interface ContainerRecipe {
  readonly id: string;
  readonly name: string;
  readonly runs: boolean;
  readonly labels: Readonly<Record<string, string>>;
  /** Content id of its image. */
  readonly imageId: string;
  /** What the engine is told to make it. */
  readonly body: JsonRecord;
}

/** The recipe by which a container was made, with the anonymous volumes it has; `undefined` when there is none. */
export async function containerRecipe(
  api: EngineApi,
  id: string,
  signal: AbortSignal,
): Promise<ContainerRecipe | undefined> {
  const answer = await api.find(`/containers/${pathName(id)}/json`, signal);
  if (answer === undefined) return undefined;
  const fullId = asText(answer["Id"]);
  const networkMode = asText(asRecord(answer["HostConfig"])["NetworkMode"]);
  const config = ownConfig(asRecord(answer["Config"]), { id: fullId, networkMode });
  const NetworkingConfig = { EndpointsConfig: endpointsOf(answer) };
  return {
    id: fullId,
    name: asText(answer["Name"]).replace(/^\//, ""),
    runs: asRecord(answer["State"])["Running"] === true,
    labels: asTexts(config["Labels"]),
    imageId: asText(answer["Image"]),
    body: { ...config, HostConfig: hostConfigOf(answer), NetworkingConfig },
  };
}

/** What a container was told, without what the engine made up for it. */
function ownConfig(
  { Hostname, Domainname, MacAddress, ExposedPorts, ...config }: JsonRecord,
  { id, networkMode }: { readonly id: string; readonly networkMode: string },
): JsonRecord {
  // Those are of the container whose network it shares, and are refused.
  if (networkMode.startsWith("container:")) return config;
  const hostname = id.startsWith(asText(Hostname)) ? {} : { Hostname };
  return { ...config, ...hostname, Domainname, MacAddress, ExposedPorts };
}

/** Volumes without a name are kept by naming the ones it had. */
function hostConfigOf(answer: JsonRecord): JsonRecord {
  const config = asRecord(answer["HostConfig"]);
  const binds = asTextList(config["Binds"]);
  const mounted = asList(answer["Mounts"]).map(asRecord);
  const mounts = asList(config["Mounts"]).map(asRecord).map((mount) => {
    if (mount["Type"] !== "volume" || asText(mount["Source"]) !== "") return mount;
    const made = mounted.find((each) => each["Destination"] === mount["Target"]);
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
