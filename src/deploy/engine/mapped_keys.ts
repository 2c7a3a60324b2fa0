import { type ComposeModel, isFilled, listOf } from "../../model/mod.ts";
import { type FileUse, fileUses, isValue } from "./injected_files.ts";
import {
  all,
  type Keys,
  mountKeys,
  NETWORK_KEYS,
  SHARED_KEYS,
  unknownKey,
  VOLUME_KEYS,
} from "./known_keys.ts";
import { LONGEST_PATH, pathBytes } from "./tar.ts";
import { isObject, type JsonObject, objectAt, serviceOf, textAt } from "../../compose/model.ts";

/**
 * The keys of a service that we map to containers, including those without effect on a single host. A
 * service with any other key is left to compose: dropping an unknown key silently would be wrong.
 */
export const SERVICE_KEYS: Keys = {
  ...SHARED_KEYS,
  ...all("build domainname annotations expose volumes_from ipc pid uts cgroup userns_mode runtime"),
  ...all("cgroup_parent privileged storage_opt oom_score_adj oom_kill_disable container_name"),
  ...all("device_cgroup_rules mac_address memswap_limit mem_swappiness cpu_shares cpu_period"),
  ...all("cpu_quota cpuset scale attach develop profiles pull_policy"),
  depends_on: { each: all("condition required restart") },
  ports: { each: all("target published protocol host_ip mode name app_protocol") },
  volumes: { each: mountKeys("create_host_path propagation recursive selinux") },
  networks: {
    each: {
      ...all("aliases ipv4_address ipv6_address link_local_ips mac_address driver_opts priority"),
      ...all("gw_priority"),
    },
  },
  devices: { each: all("source target permissions") },
  deploy: {
    keys: {
      ...all("mode labels placement endpoint_mode update_config rollback_config replicas"),
      restart_policy: { keys: all("condition max_attempts delay window") },
      resources: {
        keys: {
          limits: { keys: all("cpus memory pids") },
          reservations: { keys: all("cpus memory") },
        },
      },
    },
  },
};

/** The known keys of a network of the project. */
const OWN_NETWORK_KEYS: Keys = {
  ...NETWORK_KEYS,
  ipam: { keys: { driver: "all", config: { each: all("subnet ip_range gateway aux_addresses") } } },
};

/** Path of the first key or value of a service that we do not map: `services.web.gpus`. */
export function notMapped(model: ComposeModel, name: string): string | undefined {
  const service = serviceOf(model, name);
  const path = unknownKey(service, { keys: SERVICE_KEYS }) ?? unknownValue(service, model);
  return path === undefined ? undefined : `services.${name}.${path}`;
}

/** Path of the first key of a network or volume that we do not map. */
export function notMappedResource(model: ComposeModel): string | undefined {
  const unknown = (kind: "networks" | "volumes", keys: Keys) => {
    const path = unknownKey(objectAt(model, kind), { each: keys });
    return path === undefined ? undefined : `${kind}.${path}`;
  };
  return unknown("networks", OWN_NETWORK_KEYS) ?? unknown("volumes", VOLUME_KEYS);
}

/** A value with known keys that has to be left to compose. */
function unknownValue(service: JsonObject, model: ComposeModel): string | undefined {
  const list = (key: string) => listOf(service[key]);
  if (textAt(service, "network_mode") === "" && !isFilled(service["networks"])) return "networks";
  const volumes = list("volumes").findIndex((each) =>
    !isObject(each) || !["bind", "volume", "tmpfs"].includes(textAt(each, "type"))
  );
  if (volumes >= 0) return `volumes.${volumes}.type`;
  if (list("devices").some(isCdi)) return "devices";
  if (list("security_opt").some((each) => readsProfile(String(each)))) return "security_opt";
  const other = fileUses(model, service).find((each) => !isMappedFile(each, service));
  if (other !== undefined) return `the file ${other.path}`;
  return undefined;
}

/** Whether a service has a config or secret that only compose puts into its containers. */
export function hasUnmappedFile(model: ComposeModel, service: JsonObject): boolean {
  return fileUses(model, service).some((each) => !isMappedFile(each, service));
}

/**
 * Whether a config or secret is a file, or a value that can be put into the container: its path
 * must fit into an archive's header, and nothing can be put into a read-only container.
 */
function isMappedFile({ path, resource }: FileUse, service: JsonObject): boolean {
  if (textAt(resource, "file") !== "") return true;
  return isValue(resource) && service["read_only"] !== true &&
    pathBytes(path).length <= LONGEST_PATH;
}

/** A device of the Container Device Interface: `vendor.com/class=name`. */
function isCdi(device: unknown): boolean {
  const source = isObject(device) ? textAt(device, "source") : String(device);
  return /^[^/]+\/[^=]+=/.test(source);
}

/** Whether a profile is in a file, which the client of the engine would have to read. */
function readsProfile(option: string): boolean {
  return /^seccomp[=:]/.test(option) && !/^seccomp[=:](?:unconfined|builtin)$/.test(option);
}
