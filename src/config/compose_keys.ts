import { type Document, isMap, isScalar, type LineCounter } from "yaml";
import { isObject, type JsonObject, type Problem, recordOf } from "../model/mod.ts";
import type { ComposeText } from "./compose_text.ts";
import { nearestKey } from "./nearest_key.ts";

const ROOT_KEYS = words(
  "configs include models name networks secrets services version volumes",
);

/**
 * Keys of a service in the specification of compose. Whoever adds one sees to it that `followedPaths`
 * knows the paths that it names: compose is handed every key that stands here.
 */
export const COMPOSE_SERVICE_KEYS: readonly string[] = words(
  "annotations attach blkio_config build cap_add cap_drop cgroup cgroup_parent command configs " +
    "container_name cpu_count cpu_percent cpu_period cpu_quota cpu_rt_period cpu_rt_runtime cpu_shares cpus " +
    "cpuset credential_spec depends_on deploy develop device_cgroup_rules devices dns dns_opt dns_search " +
    "domainname entrypoint env_file environment expose extends external_links extra_hosts gpus group_add " +
    "healthcheck hostname image init ipc isolation label_file labels links logging mac_address mem_limit " +
    "mem_reservation mem_swappiness memswap_limit models network_mode networks oom_kill_disable " +
    "oom_score_adj pid pids_limit platform ports post_start pre_start pre_stop privileged profiles " +
    "provider pull_policy pull_refresh_after read_only restart runtime scale secrets security_opt shm_size " +
    "stdin_open stop_grace_period stop_signal storage_opt sysctls tmpfs tty ulimits use_api_socket user " +
    "userns_mode uts volumes volumes_from working_dir",
);

/** Keys of a build in that specification; the same holds for them. */
export const COMPOSE_BUILD_KEYS: readonly string[] = words(
  "additional_contexts args cache_from cache_to context dockerfile dockerfile_inline entitlements " +
    "extra_hosts isolation labels network no_cache no_cache_filter platforms privileged provenance " +
    "pull sbom secrets shm_size ssh tags target ulimits",
);

function words(text: string): readonly string[] {
  return text.split(" ");
}

const RULES_OF_UPDATES = "delay failure_action max_failure_ratio monitor order parallelism";
const HOOK = "command environment privileged user working_dir";

/**
 * Maps of a compose file with the keys that compose takes in them, all others it refuses; `*` stands for
 * every key of a map and every entry of a list.
 */
const KNOWN_KEYS: readonly (readonly [path: readonly string[], known: readonly string[]])[] = [
  [[], ROOT_KEYS],
  [["services", "*"], COMPOSE_SERVICE_KEYS],
  [["services", "*", "build"], COMPOSE_BUILD_KEYS],
  ...Object.entries({
    "services.*.blkio_config":
      "device_read_bps device_read_iops device_write_bps device_write_iops weight weight_device",
    "services.*.build.secrets.*": "gid mode source target uid",
    "services.*.configs.*": "gid mode source target uid",
    "services.*.depends_on.*": "condition required restart",
    "services.*.deploy": "endpoint_mode labels mode placement replicas resources restart_policy " +
      "rollback_config update_config",
    "services.*.deploy.placement": "constraints max_replicas_per_node preferences",
    "services.*.deploy.resources": "limits reservations",
    "services.*.deploy.resources.limits": "cpus memory pids",
    "services.*.deploy.resources.reservations": "cpus devices generic_resources memory",
    "services.*.deploy.restart_policy": "condition delay max_attempts window",
    "services.*.deploy.rollback_config": RULES_OF_UPDATES,
    "services.*.deploy.update_config": RULES_OF_UPDATES,
    "services.*.develop": "watch",
    "services.*.env_file.*": "format path required",
    "services.*.healthcheck": "disable interval retries start_interval start_period test timeout",
    "services.*.logging": "driver options",
    "services.*.networks.*": "aliases driver_opts gw_priority interface_name ipv4_address " +
      "ipv6_address link_local_ips mac_address priority",
    "services.*.ports.*": "app_protocol host_ip mode name protocol published target",
    "services.*.post_start.*": HOOK,
    "services.*.pre_start.*": `${HOOK} image per_replica`,
    "services.*.pre_stop.*": HOOK,
    "services.*.secrets.*": "gid mode source target uid",
    "services.*.ulimits.*": "hard soft",
    "services.*.volumes.*": "bind consistency image read_only source target tmpfs type volume",
    "services.*.volumes.*.bind": "create_host_path propagation recursive selinux",
    "services.*.volumes.*.tmpfs": "mode size",
    "services.*.volumes.*.volume": "labels nocopy subpath",
    "configs.*": "content environment external file labels name template_driver",
    "networks.*": "attachable driver driver_opts enable_ipv4 enable_ipv6 external internal ipam " +
      "labels name",
    "secrets.*": "driver driver_opts environment external file labels name template_driver",
    "volumes.*": "driver driver_opts external labels name",
  }).map(([path, keys]) => [path.split("."), words(keys)] as const),
];

/** Most unknown keys of a file that are looked at: more are hardly typing mistakes. */
const MOST_UNKNOWN = 100;

/**
 * Problems of unknown keys that differ little from a key of compose in the same place: no compose is handed
 * what it does not know. Other unknown keys may belong to a newer compose.
 */
export function misspelledKeys({ file, documents, lines }: ComposeText): Problem[] {
  const unknown = documents.flatMap(({ document, value }) =>
    KNOWN_KEYS.flatMap(([pattern, known]) =>
      mapsAt(value, pattern).flatMap(({ path, map }) =>
        Object.keys(map).filter((key) => !known.includes(key) && !key.startsWith("x-"))
          .map((key) => ({ document, path, key, known }))
      )
    )
  );
  return unknown.slice(0, MOST_UNKNOWN).flatMap(({ document, path, key, known }) => {
    const near = nearestKey(key, known);
    if (near === undefined) return [];
    const message = `compose knows no such key; did you mean "${near}"?`;
    const at = placeOf(document, path, key, lines);
    return [{ file, ...at, path: [...path, key].join("."), message }];
  });
}

/** The maps at a path, in which `*` is every key. */
function mapsAt(value: unknown, [key, ...rest]: readonly string[], path: readonly string[] = []): {
  readonly path: readonly string[];
  readonly map: JsonObject;
}[] {
  if (key === undefined) return isObject(value) ? [{ path, map: value }] : [];
  const below = Array.isArray(value) ? Object.entries(value) : Object.entries(recordOf(value));
  return below.filter(([name]) => key === "*" || key === name)
    .flatMap(([name, each]) => mapsAt(each, rest, [...path, name]));
}

/** Line and column of a key; empty for a key that came by a merge. */
function placeOf(
  document: Document,
  path: readonly string[],
  key: string,
  lines: LineCounter,
): { readonly line?: number; readonly column?: number } {
  const map = path.length === 0 ? document.contents : document.getIn(path, true);
  const pair = isMap(map)
    ? map.items.find((each) => isScalar(each.key) && each.key.value === key)
    : undefined;
  const range = isScalar(pair?.key) ? pair.key.range : undefined;
  if (!range) return {};
  const { line, col } = lines.linePos(range[0]);
  return { line, column: col };
}
