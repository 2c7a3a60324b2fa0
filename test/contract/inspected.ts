import {
  asList,
  asRecord,
  asText,
  asTextList,
  type Json,
  type JsonRecord,
} from "../../src/docker/json.ts";

/** What differs between two containers made alike. */
const VOLATILE = [
  "Id",
  "Created",
  "ResolvConfPath",
  "HostnamePath",
  "HostsPath",
  "LogPath",
  "GraphDriver",
  "State",
  "ExecIDs",
];
const COMPOSE_VERSION = "com.docker.compose.version";
const DEPENDS_ON = "com.docker.compose.depends_on";

/** An inspected container without what differs by nature, and with one spelling for mounts. */
export function comparable(
  container: JsonRecord,
  nameOf: (id: string) => string,
): Record<string, unknown> {
  const copy = JSON.parse(JSON.stringify(container)) as Record<string, Json>;
  for (const key of VOLATILE) delete copy[key];
  const config = { ...asRecord(copy["Config"]) } as Record<string, unknown>;
  const host = { ...asRecord(copy["HostConfig"]) } as Record<string, unknown>;
  if (/^[0-9a-f]{12}$/.test(asText(asRecord(copy["Config"])["Hostname"]))) {
    config["Hostname"] = "made up";
  }
  const { [COMPOSE_VERSION]: _version, [DEPENDS_ON]: dependsOn, ...labels } = asRecord(
    asRecord(copy["Config"])["Labels"],
  );
  config["Labels"] = { ...labels, [DEPENDS_ON]: asText(dependsOn).split(",").sort().join() };
  config["Env"] = sorted(config["Env"]);
  for (const key of ["ExtraHosts", "Ulimits", "SecurityOpt"]) host[key] = sorted(host[key]);
  // With or without the prefix, and as they are written, by version.
  for (const key of ["CapAdd", "CapDrop"]) {
    host[key] = sorted(
      asTextList(asRecord(copy["HostConfig"])[key]).map((each) =>
        each.toUpperCase().replace(/^CAP_/, "")
      ),
    );
  }
  host["Mounts"] = mountsOf(asRecord(copy["HostConfig"]));
  delete host["Binds"];
  const mounts = asList(copy["Mounts"]).map(asRecord).map(
    ({ Type, Name, Source, Destination, RW, Propagation }) => ({
      Type: Type ?? null,
      Destination: Destination ?? null,
      RW: RW ?? null,
      Propagation: Propagation ?? null,
      ...(isMadeUp(asText(Name)) ? {} : { Name: Name ?? null, Source: Source ?? null }),
    }),
  );
  const plain = { ...copy, Config: config, HostConfig: host, Mounts: sorted(mounts) };
  // Older engines add the beginning of its id to the aliases.
  const text = JSON.stringify(plain).replace(/[0-9a-f]{64}/g, (id) => nameOf(id))
    .replaceAll(`"${asText(container["Id"]).slice(0, 12)}"`, '"its id"');
  return withoutEchoes(flat(JSON.parse(text)));
}

/** Before a container is started, the engine shows the addresses asked for or none, by API version. */
function withoutEchoes(leaves: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(leaves).filter(([path]) =>
      !/^\/NetworkSettings\/Networks\/[^/]*\/(?:IPAddress|IPv6Gateway|GlobalIPv6Address)$/.test(
        path,
      )
    ),
  );
}

/** The same for a network or volume. */
export function comparableResource(resource: JsonRecord): Record<string, unknown> {
  const { Id: _id, Created: _created, CreatedAt: _at, IPAM, ...rest } = resource;
  const { [COMPOSE_VERSION]: _version, "com.docker.compose.config-hash": _hash, ...labels } =
    asRecord(rest["Labels"]);
  // A subnet that nobody asked for is another one each time.
  const asked = asText(rest["Name"]).endsWith("_n3");
  return flat({ ...rest, Labels: labels, ...(asked ? { IPAM } : {}) });
}

function isMadeUp(name: string): boolean {
  return /^[0-9a-f]{64}$/.test(name);
}

/** `source:target:mode` lines and long mounts say the same in two ways, by version. */
function mountsOf(host: JsonRecord): unknown[] {
  const lines = asList(host["Binds"]).map(asText).map((line) => {
    const [source = "", target = "", mode = ""] = line.split(":");
    const words = mode.split(",");
    const isBind = source.startsWith("/");
    return {
      target,
      source,
      type: isBind ? "bind" : "volume",
      readOnly: words.includes("ro"),
      options: { ...(isBind ? { CreateMountpoint: true } : {}), ...labelled(words) },
    };
  });
  const long = asList(host["Mounts"]).map(asRecord).map((mount) => ({
    target: asText(mount["Target"]),
    source: asText(mount["Source"]),
    type: asText(mount["Type"]),
    readOnly: mount["ReadOnly"] === true,
    options: filled({
      ...asRecord(mount["BindOptions"]),
      ...asRecord(mount["VolumeOptions"]),
      ...asRecord(mount["TmpfsOptions"]),
    }),
  }));
  return [...lines, ...long].sort((a, b) => a.target < b.target ? -1 : 1);
}

function labelled(words: readonly string[]): Record<string, string> {
  const selinux = words.find((word) => word.toLowerCase() === "z");
  return selinux === undefined ? {} : { selinux };
}

function filled(record: JsonRecord): JsonRecord {
  return Object.fromEntries(
    Object.entries(record).filter(([, value]) =>
      value !== false && value !== "" && value !== 0 && value !== null
    ),
  );
}

function sorted(value: unknown): unknown {
  if (!Array.isArray(value)) return value;
  return value.map((each) => JSON.stringify(each)).sort();
}

/** Every leaf by its path; what is empty in any way is left out. */
function flat(value: unknown, path = "", into: Record<string, unknown> = {}) {
  if (typeof value === "object" && value !== null) {
    for (const [key, each] of Object.entries(value)) flat(each, `${path}/${key}`, into);
  } else if (value !== null && value !== undefined) into[path] = value;
  return into;
}
