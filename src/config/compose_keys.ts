import { type Document, isMap, isScalar, type LineCounter } from "yaml";
import { type Problem, recordOf } from "../model/mod.ts";
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

function words(text: string): readonly string[] {
  return text.split(" ");
}

/** Most unknown keys of a file that are looked at: more are hardly typing mistakes. */
const MOST_UNKNOWN = 100;

/**
 * Problems of unknown keys at the root and in services that differ little from a key of compose: no
 * compose is handed what it does not know. Other unknown keys may belong to a newer compose.
 */
export function misspelledKeys({ file, documents, lines }: ComposeText): Problem[] {
  const unknown = documents.flatMap(({ document, value }) => {
    const root = recordOf(value);
    const places = [
      { path: [] as string[], map: root, known: ROOT_KEYS },
      ...Object.entries(recordOf(root["services"])).map(([name, service]) => ({
        path: ["services", name],
        map: recordOf(service),
        known: COMPOSE_SERVICE_KEYS,
      })),
    ];
    return places.flatMap(({ path, map, known }) =>
      Object.keys(map).filter((key) => !known.includes(key) && !key.startsWith("x-"))
        .map((key) => ({ document, path, key, known }))
    );
  });
  return unknown.slice(0, MOST_UNKNOWN).flatMap(({ document, path, key, known }) => {
    const near = nearestKey(key, known);
    if (near === undefined) return [];
    const message = `compose knows no such key; did you mean "${near}"?`;
    const at = placeOf(document, path, key, lines);
    return [{ file, ...at, path: [...path, key].join("."), message }];
  });
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
