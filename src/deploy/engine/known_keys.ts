import { isFilled, isObject } from "../../model/mod.ts";

/** Known parts of a value: all of it, the named keys of an object, or those of each member. */
type Shape = "all" | { readonly keys: Keys } | { readonly each: Keys };
/** Keys of an object, each with the known parts of its value. */
export type Keys = Readonly<Record<string, Shape>>;

/** Shapes for keys, separated by spaces, that are known with all of their values. */
export const all = (names: string): Keys =>
  Object.fromEntries(names.split(" ").map((name) => [name, "all" as const]));

/** Keys of a service with the same meaning for a container and a task of a swarm. */
export const SHARED_KEYS: Keys = {
  ...all("image platform command entrypoint environment env_file hostname user working_dir tty"),
  ...all("stdin_open stop_signal stop_grace_period labels label_file tmpfs network_mode init"),
  ...all("read_only shm_size sysctls group_add dns dns_search dns_opt extra_hosts mem_limit"),
  ...all("mem_reservation cpus pids_limit ulimits restart cap_add cap_drop security_opt"),
  healthcheck: { keys: all("disable test interval timeout retries start_period start_interval") },
  configs: { each: all("source target uid gid mode") },
  secrets: { each: all("source target uid gid mode") },
  logging: { keys: all("driver options") },
};

/** Keys of a network with the same meaning on a host and in a swarm. */
export const NETWORK_KEYS: Keys = {
  ...all("name external driver driver_opts internal attachable enable_ipv4 enable_ipv6 labels"),
  ipam: { keys: { driver: "all", config: { each: all("subnet ip_range gateway") } } },
};
/** Keys of a volume with the same meaning on a host and in a swarm. */
export const VOLUME_KEYS: Keys = all("name external driver driver_opts labels");

/** Keys of a mount, with those `ofBind`, which are not the same on a host and in a swarm. */
export const mountKeys = (ofBind: string): Keys => ({
  ...all("type source target read_only consistency"),
  bind: { keys: all(ofBind) },
  volume: { keys: all("nocopy subpath labels") },
  tmpfs: { keys: all("size mode") },
});

/** Path of the first key outside of a shape; keys with an empty value are ignored. */
export function unknownKey(value: unknown, shape: Shape): string | undefined {
  if (shape === "all" || !isFilled(value)) return undefined;
  if ("each" in shape) {
    if (typeof value !== "object" || value === null) return "";
    return firstOf(Object.entries(value), (each) => unknownKey(each, { keys: shape.each }));
  }
  // Old versions of compose print some entries as text, which their readers parse themselves.
  if (!isObject(value)) return undefined;
  return firstOf(Object.entries(value), (each, key) => {
    const known = Object.hasOwn(shape.keys, key) ? shape.keys[key] : undefined;
    if (known === undefined) return isFilled(each) ? "" : undefined;
    return unknownKey(each, known);
  });
}

function firstOf(
  entries: readonly (readonly [string, unknown])[],
  look: (value: unknown, key: string) => string | undefined,
): string | undefined {
  for (const [key, value] of entries) {
    const found = look(value, key);
    if (found !== undefined) return found === "" ? key : `${key}.${found}`;
  }
  return undefined;
}
