import { createHash } from "node:crypto";
import { compareVersions } from "../../src/docker/api_version.ts";

/** A value that a service may have, and from which version of compose and of the engine's API on. */
interface Choice {
  readonly value: unknown;
  readonly since: number;
  /** Before it compose refuses the value. */
  readonly api?: string;
}

const of = (...values: readonly unknown[]): Choice[] =>
  values.map((value) => ({ value, since: 0 }));
const since = (version: number, ...values: readonly unknown[]): Choice[] =>
  values.map((value) => ({ value, since: version }));

/** Versions as one number: 2.26 is 226, 5.5 is 505. */
export function versionNumber(text: string): number {
  const [major = 0, minor = 0] = text.replace(/^v/, "").split(".").map(Number);
  return major * 100 + minor;
}

/** What each key of a service is tried with. */
export const CHOICES: Readonly<Record<string, readonly Choice[]>> = {
  command: of(null, [], ["sh", "-c", "echo $$HOME <&>"], "sleep 100"),
  entrypoint: of(null, [], ["/bin/sh", "-c"], "sleep"),
  environment: of({ A: "1", "10": "x", "9": "y" }, ["B=2", "UNSET", "C="], {
    D: "a$$b",
    E: "é\u2028",
  }),
  env_file: of(["./some.env"]),
  hostname: of("h1"),
  domainname: of("d.example"),
  user: of("1000", "1:2"),
  working_dir: of("/tmp", "/w"),
  tty: of(true, false),
  stdin_open: of(true),
  init: of(true, false),
  read_only: of(true),
  privileged: of(true),
  stop_signal: of("SIGINT"),
  stop_grace_period: of("0s", "1500ms", "2m"),
  restart: of("no", "always", "on-failure", "on-failure:5", "unless-stopped"),
  ipc: of("host", "private", "shareable", "none"),
  pid: of("host"),
  uts: of("host"),
  cgroup: of("host", "private"),
  userns_mode: of("host"),
  cgroup_parent: of("swt-parent"),
  runtime: of("runc"),
  platform: of("linux/amd64"),
  pull_policy: of("never", "missing"),
  attach: of(false),
  cap_add: of(["NET_ADMIN"], ["ALL"], ["CAP_SYS_TIME", "net_raw"]),
  cap_drop: of(["MKNOD"], ["ALL"]),
  security_opt: of(["no-new-privileges"], ["no-new-privileges:true", "label=disable"], [
    "seccomp=unconfined",
  ], ["systempaths=unconfined"]),
  sysctls: of({ "net.core.somaxconn": 5 }, ["net.ipv4.ip_forward=1"]),
  storage_opt: of({}),
  shm_size: of("64m", 1048576),
  oom_score_adj: of(100, -5),
  oom_kill_disable: of(true),
  group_add: of(["1", "audio"], [5]),
  mem_limit: of("32m"),
  mem_reservation: of("16m"),
  memswap_limit: of("128m"),
  mem_swappiness: of(20),
  cpus: of(0.5, "1.5", 0.07),
  cpu_shares: of(73),
  cpu_quota: of(20000),
  cpu_period: of(50000),
  cpuset: of("0-1"),
  pids_limit: of(5, -1),
  ulimits: of({ nproc: 5, nofile: { soft: 1, hard: 2 } }),
  devices: of(["/dev/null:/dev/x:rw"], ["/dev/zero"]),
  device_cgroup_rules: of(["c 1:3 r"]),
  dns: of("9.9.9.9", ["1.1.1.1"]),
  dns_search: of(["a.b"]),
  dns_opt: of(["timeout:1"]),
  extra_hosts: of(["a:1.1.1.1", "b=::1"], { c: "2.2.2.2" }),
  labels: of({ a: "<b>", "1": "x", "$$k": "v" }, ["q=r", "s"]),
  label_file: since(232, ["./some.labels"]),
  annotations: of({ an: "o" }),
  logging: of({ driver: "json-file", options: { "max-size": "2m" } }, { driver: "none" }, {
    options: { "max-file": "3" },
  }),
  healthcheck: of(
    { test: ["CMD", "true"], interval: "3s" },
    { test: "true", timeout: "1s", retries: 2, start_period: "1s" },
    { disable: true },
    { interval: "9s" },
    { test: ["NONE"] },
  ).concat({
    value: { test: "true", start_period: "1s", start_interval: "500ms" },
    since: 0,
    api: "1.44",
  }),
  expose: [...of(["99"], ["98/udp"]), ...since(500, ["100-102/tcp"])],
  ports: of(
    ["1234"],
    ["127.0.0.1:0:55"],
    [{ target: 5, published: "0", mode: "host", name: "x", app_protocol: "http" }],
    ["33000-33005:77"],
    ["33010-33012:80-82/udp", "33011:80/tcp"],
    [{ target: 6, published: "33020", protocol: "udp", host_ip: "127.0.0.1" }],
  ),
  tmpfs: of("/tt", ["/a1:size=1m", "/a2"]),
  volumes: [
    ...of(
      ["./exists:/v1", "d1:/v2:ro", "/v3"],
      [{ type: "volume", source: "d2", target: "/v4", volume: { nocopy: true } }],
      [{ type: "bind", source: "./exists", target: "/v5/", bind: { propagation: "rslave" } }],
      [{ type: "tmpfs", target: "/v6", tmpfs: { size: 4096, mode: 511 } }, "d1:/v7:nocopy"],
      ["./exists:/v8:ro,Z"],
      [{
        type: "bind",
        source: "./exists",
        target: "/v9",
        read_only: true,
        consistency: "cached",
        bind: { create_host_path: false },
      }],
    ),
    ...since(
      500,
      [{ type: "bind", source: "./exists", target: "/va", bind: { recursive: "disabled" } }],
      [{ type: "bind", source: "./exists", target: "/vb", bind: { selinux: "z" } }],
      [{ type: "volume", source: "d1", target: "/vc", volume: { subpath: "x" } }],
      [{ type: "volume", target: "/vd", volume: { labels: { l: "m" } } }],
    ),
  ],
  configs: of(["c1", "c3"], [{ source: "c1", target: "/x/c2", uid: "1", gid: "2", mode: 292 }]),
  secrets: of(["s1"], ["s2"], [{ source: "s1", target: "t1", uid: "1", gid: "2", mode: 292 }]),
  networks: [
    ...of(
      { n1: null },
      { n1: { aliases: ["al"] }, n2: { priority: 3 } },
      { default: { aliases: ["d"] }, n2: null, n1: { priority: -1 } },
      ["n2", "default"],
    ),
    {
      value: {
        n3: {
          ipv4_address: "SUBNET.9",
          ipv6_address: "fd00:SUBNET6::9",
          link_local_ips: ["169.254.8.8"],
          mac_address: "02:42:ac:11:00:08",
        },
      },
      since: 0,
      api: "1.44",
    },
    ...since(500, { n1: { driver_opts: { a: "b" }, gw_priority: 2 } }),
  ],
  mac_address: since(500, "02:42:ac:11:00:07"),
  network_mode: of("host", "none", "bridge"),
  profiles: of(["p"]),
  container_name: of("named"),
  scale: of(2),
  develop: of({ watch: [{ path: "./exists", action: "rebuild" }] }),
  deploy: of(
    { replicas: 2, restart_policy: { condition: "any" }, mode: "replicated", labels: { x: "y" } },
    { restart_policy: { condition: "on-failure", max_attempts: 3, delay: "1s", window: "2s" } },
    { restart_policy: {}, endpoint_mode: "vip", placement: { constraints: ["a==b"] } },
    { update_config: { order: "start-first" }, rollback_config: { parallelism: 1 } },
    {
      resources: {
        limits: { memory: "64m", cpus: "0.5", pids: 9 },
        reservations: { memory: "16m", cpus: "0.1" },
      },
    },
  ),
  build: of({ context: "." }),
};

/** Numbers between 0 and 1 that are the same for the same seed. */
export function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1664525 + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

/** How often a key is set. */
const LIKELIHOOD = 0.2;

/** Random services that compose takes, by name; the same for the same seed. */
export function randomServices(
  image: string,
  { seed, count, version, api, prefix }: {
    readonly seed: number;
    readonly count: number;
    /** See {@link versionNumber}. */
    readonly version: number;
    /** What the engine speaks. */
    readonly api: string;
    /** Beginning of names of containers. */
    readonly prefix: string;
  },
): Record<string, Record<string, unknown>> {
  const random = randomNumbers(seed);
  const names = Array.from({ length: count }, (_, index) => `r${String(index).padStart(3, "0")}`);
  const shared = new Set<string>();
  const services = names.map((name, index) => {
    const service: Record<string, unknown> = { image };
    for (const [key, choices] of Object.entries(CHOICES)) {
      const possible = choices.filter((each) =>
        each.since <= version && compareVersions(api, each.api ?? "") >= 0
      );
      const choice = possible[Math.floor(random() * possible.length)];
      if (choice !== undefined && random() < LIKELIHOOD) service[key] = choice.value;
    }
    if (service["container_name"] !== undefined) service["container_name"] = `${prefix}-${name}`;
    const earlier = names[Math.floor(random() * index)];
    if (earlier !== undefined && index > 0 && addReferences(service, earlier, random)) {
      shared.add(earlier);
    }
    return [name, consistent(service)] as const;
  });
  // Of several containers compose takes any, another one each time.
  for (const [name, service] of services) {
    if (!shared.has(name)) continue;
    delete service["scale"];
    if (Object.hasOwn(service["deploy"] ?? {}, "replicas")) delete service["deploy"];
  }
  // The engine looks for a volume without a name where it is to hand on a tmpfs.
  const withTmpfs = new Set(
    services.flatMap(([name, { volumes }]) =>
      JSON.stringify(volumes ?? "").includes('"tmpfs"') ? [name] : []
    ),
  );
  for (const [, service] of services) {
    const from = service["volumes_from"];
    if (Array.isArray(from) && from.some((each) => withTmpfs.has(each))) {
      delete service["volumes_from"];
    }
  }
  return Object.fromEntries(services);
}

/** Sometimes a service depends on an earlier one, or shares something with it: then it returns true. */
function addReferences(
  service: Record<string, unknown>,
  earlier: string,
  random: () => number,
): boolean {
  const condition = ["service_started", "service_healthy", "service_completed_successfully"]
    .at(Math.floor(random() * 3));
  if (random() < 0.25) {
    const restart = random() < 0.5 ? { restart: true } : {};
    service["depends_on"] = { [earlier]: { condition, required: true, ...restart } };
  }
  if (random() < 0.1) service["network_mode"] = `service:${earlier}`;
  if (random() < 0.1) service["pid"] = `service:${earlier}`;
  // Not `:ro`, which compose forgets.
  if (random() < 0.1) service["volumes_from"] = [earlier];
  return JSON.stringify([service["network_mode"], service["pid"], service["volumes_from"] ?? ""])
    .includes(earlier);
}

/** Takes out what may not stand together, as compose or the engine refuses it. */
function consistent(service: Record<string, unknown>): Record<string, unknown> {
  const without = (...keys: readonly string[]) => keys.forEach((key) => delete service[key]);
  const mode = String(service["network_mode"] ?? "");
  if (mode !== "") {
    without("networks", "mac_address", "expose");
    if (mode !== "bridge") without("ports", "dns", "dns_search", "dns_opt");
    if (mode === "host" || mode.startsWith("service:")) {
      without("hostname", "domainname", "sysctls", "extra_hosts");
    }
    if (mode === "host") without("uts");
  }
  // Nothing can be put into one that is read-only.
  if (/"(?:c3|s2)"/.test(JSON.stringify([service["configs"], service["secrets"]]))) {
    without("read_only");
  }
  if (service["uts"] === "host") without("hostname", "domainname");
  if (service["ipc"] === "host") without("shm_size");
  if (service["privileged"] === true) without("cgroup", "userns_mode");
  if (service["userns_mode"] === "host" && String(service["pid"] ?? "").startsWith("service:")) {
    without("pid");
  }
  if (service["cpus"] !== undefined) without("cpu_quota", "cpu_period");
  const deploy = service["deploy"] as { resources?: unknown; replicas?: number } | undefined;
  // What stands in both places has to be equal.
  if (deploy?.resources !== undefined) {
    without("mem_limit", "mem_reservation", "cpus", "pids_limit", "cpu_quota", "cpu_period");
  }
  if (service["memswap_limit"] !== undefined || service["mem_reservation"] !== undefined) {
    if (deploy?.resources === undefined) service["mem_limit"] = "32m";
  }
  if (deploy?.replicas !== undefined || service["container_name"] !== undefined) without("scale");
  if (deploy?.replicas !== undefined || service["scale"] !== undefined) without("container_name");
  const networks = service["networks"] as Record<string, unknown> | undefined;
  const fixed = networks !== undefined && Object.hasOwn(networks, "n3");
  if (fixed) without("mac_address");
  return service;
}

/**
 * A project of services as JSON, with the networks, volumes, configs and secrets that they may name.
 * Its addresses are made from its name, because two networks of one engine cannot share them.
 */
export function projectText(name: string, services: Readonly<Record<string, unknown>>): string {
  const [first = 0, second = 0] = createHash("sha256").update(name).digest();
  return JSON.stringify(projectOf(name, services))
    .replaceAll("SUBNET6", `${first.toString(16)}${second.toString(16).padStart(2, "0")}`)
    .replaceAll("SUBNET", `10.${200 + first % 50}.${second}`);
}

function projectOf(name: string, services: Readonly<Record<string, unknown>>) {
  const pool = { subnet: "SUBNET.0/24", gateway: "SUBNET.1", ip_range: "SUBNET.128/25" };
  return {
    name,
    services,
    networks: {
      n1: { labels: { a: "b" }, attachable: true },
      n2: { internal: true, driver: "bridge" },
      n3: {
        enable_ipv6: true,
        driver_opts: { "com.docker.network.bridge.enable_icc": "true" },
        ipam: {
          driver: "default",
          config: [
            { ...pool, aux_addresses: { x: "SUBNET.5" } },
            { subnet: "fd00:SUBNET6::/64" },
          ],
        },
      },
    },
    volumes: {
      d1: null,
      d2: { labels: ["x=y"], driver: "local", driver_opts: { type: "tmpfs", device: "tmpfs" } },
    },
    configs: { c1: { file: "./s.txt" }, c3: { content: "5$$" } },
    secrets: { s1: { file: "./s.txt" }, s2: { environment: "PATH" } },
  };
}
