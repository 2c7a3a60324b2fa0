/** A key of a service, what is written, and what a swarm is told at a path. */
export type ServiceCase = readonly [key: string, written: unknown, path: string, told: unknown];

/** Paths lead into the container of a task. */
export const CONTAINER: readonly ServiceCase[] = [
  ["command", ["serve", "-v"], "Args", ["serve", "-v"]],
  ["command", [], "Args", []],
  ["entrypoint", ["/init"], "Command", ["/init"]],
  ["environment", { B: "2", A: "1", NONE: null }, "Env", ["A=1", "B=2", "NONE"]],
  ["hostname", "web-1", "Hostname", "web-1"],
  ["user", "10:20", "User", "10:20"],
  ["working_dir", "/srv", "Dir", "/srv"],
  ["group_add", ["adm", "5"], "Groups", ["adm", "5"]],
  ["tty", true, "TTY", true],
  ["stdin_open", true, "OpenStdin", true],
  ["read_only", true, "ReadOnly", true],
  ["init", true, "Init", true],
  ["init", false, "Init", false],
  ["isolation", "default", "Isolation", "default"],
  ["stop_signal", "SIGINT", "StopSignal", "SIGINT"],
  ["stop_grace_period", "1m30s", "StopGracePeriod", 90e9],
  ["sysctls", { "net.core.somaxconn": 1024 }, "Sysctls", { "net.core.somaxconn": "1024" }],
  ["cap_add", ["net_admin", "CAP_SYS_TIME"], "CapabilityAdd", ["CAP_NET_ADMIN", "CAP_SYS_TIME"]],
  ["cap_drop", ["ALL"], "CapabilityDrop", ["ALL"]],
  ["ulimits", { nofile: { soft: 1, hard: 2 } }, "Ulimits", [{
    Name: "nofile",
    Soft: 1,
    Hard: 2,
  }]],
  ["extra_hosts", ["db=10.0.0.9", "v6=[::1]"], "Hosts", ["10.0.0.9 db", "::1 v6"]],
  ["dns", ["10.0.0.1"], "DNSConfig", { Nameservers: ["10.0.0.1"] }],
  ["dns_search", ["example.org"], "DNSConfig", { Search: ["example.org"] }],
  ["dns_opt", ["ndots:2"], "DNSConfig", { Options: ["ndots:2"] }],
  ["security_opt", ["no-new-privileges:true"], "Privileges", { NoNewPrivileges: true }],
  ["security_opt", ["label:type:web_t"], "Privileges", { SELinuxContext: { Type: "web_t" } }],
  ["credential_spec", { file: "a.json" }, "Privileges", { CredentialSpec: { File: "a.json" } }],
  ["shm_size", "1024", "Mounts", [
    { Type: "tmpfs", Target: "/dev/shm", TmpfsOptions: { SizeBytes: 1024 } },
  ]],
  ["tmpfs", ["/run:size=64k,mode=1777"], "Mounts", [
    { Type: "tmpfs", Target: "/run", TmpfsOptions: { SizeBytes: 65536, Mode: 0o1777 } },
  ]],
  [
    "volumes",
    [{ type: "bind", source: "/a", target: "/b", bind: { create_host_path: true } }],
    "Mounts",
    [
      { Type: "bind", Source: "/a", Target: "/b" },
    ],
  ],
  [
    "volumes",
    [{
      type: "bind",
      source: "/a",
      target: "/b",
      read_only: true,
      bind: { propagation: "rslave", recursive: "disabled" },
    }],
    "Mounts",
    [{
      Type: "bind",
      Source: "/a",
      Target: "/b",
      ReadOnly: true,
      BindOptions: { Propagation: "rslave", NonRecursive: true },
    }],
  ],
  [
    "volumes",
    [{ type: "bind", source: "/a", target: "/b", bind: { recursive: "disabled" } }],
    "Mounts",
    [{ Type: "bind", Source: "/a", Target: "/b", BindOptions: { NonRecursive: true } }],
  ],
  [
    "volumes",
    [{ type: "bind", source: "/a", target: "/b", consistency: "cached" }],
    "Mounts",
    [{ Type: "bind", Source: "/a", Target: "/b", Consistency: "cached" }],
  ],
  ["volumes", [{ type: "tmpfs", target: "/t", tmpfs: { size: "4096", mode: 448 } }], "Mounts", [
    { Type: "tmpfs", Target: "/t", TmpfsOptions: { SizeBytes: 4096, Mode: 448 } },
  ]],
  ["volumes", [{ type: "volume", target: "/anonymous" }], "Mounts", [
    { Type: "volume", Target: "/anonymous" },
  ]],
  ["healthcheck", { test: ["CMD", "true"], interval: "5s", retries: 2 }, "Healthcheck", {
    Test: ["CMD", "true"],
    Interval: 5e9,
    Timeout: 0,
    StartPeriod: 0,
    StartInterval: 0,
    Retries: 2,
  }],
  ["configs", [{ source: "db", target: "etc/db", mode: "0440", uid: "7" }], "Configs", [{
    ConfigID: "configs-db-id",
    ConfigName: "shop_db_12345678",
    File: { Name: "/etc/db", UID: "7", GID: "0", Mode: 0o440 },
  }]],
  ["secrets", [{ source: "key" }], "Secrets", [{
    SecretID: "secrets-key-id",
    SecretName: "shop_key_12345678",
    File: { Name: "key", UID: "0", GID: "0", Mode: 0o444 },
  }]],
];

/** The same of a task. */
export const TASK: readonly ServiceCase[] = [
  ["logging", { driver: "journald", options: { tag: "web" } }, "LogDriver", {
    Name: "journald",
    Options: { tag: "web" },
  }],
  ["restart", "unless-stopped", "RestartPolicy", { Condition: "any" }],
  ["restart", "on-failure:3", "RestartPolicy", { Condition: "on-failure", MaxAttempts: 3 }],
  ["restart", "no", "RestartPolicy", { Condition: "none" }],
  [
    "deploy",
    {
      restart_policy: { condition: "on-failure", delay: "5s", max_attempts: 3, window: "2m0s" },
    },
    "RestartPolicy",
    { Condition: "on-failure", Delay: 5e9, MaxAttempts: 3, Window: 120e9 },
  ],
  ["deploy", { resources: { limits: { cpus: 0.5, memory: "4194304", pids: 9 } } }, "Resources", {
    Limits: { NanoCPUs: 5e8, MemoryBytes: 4194304, Pids: 9 },
  }],
  [
    "deploy",
    {
      resources: {
        reservations: {
          cpus: 0.25,
          memory: "4194304",
          generic_resources: [{ discrete_resource_spec: { kind: "gpu", value: 2 } }],
        },
      },
    },
    "Resources",
    {
      Reservations: {
        NanoCPUs: 25e7,
        MemoryBytes: 4194304,
        GenericResources: [{ DiscreteResourceSpec: { Kind: "gpu", Value: 2 } }],
      },
    },
  ],
  ["mem_limit", "8388608", "Resources", { Limits: { MemoryBytes: 8388608 } }],
  ["mem_reservation", "8388608", "Resources", { Reservations: { MemoryBytes: 8388608 } }],
  ["cpus", 1.5, "Resources", { Limits: { NanoCPUs: 15e8 } }],
  ["pids_limit", 30, "Resources", { Limits: { Pids: 30 } }],
  [
    "deploy",
    {
      placement: {
        constraints: ["node.role==worker"],
        preferences: [{ spread: "node.labels.zone" }],
        max_replicas_per_node: 2,
      },
    },
    "Placement",
    {
      Constraints: ["node.role==worker"],
      Preferences: [{ Spread: { SpreadDescriptor: "node.labels.zone" } }],
      MaxReplicas: 2,
    },
  ],
  ["platform", "linux/arm64", "Placement", { Platforms: [{ OS: "linux", Architecture: "arm64" }] }],
  ["network_mode", "host", "Networks", [{ Target: "host" }]],
  [
    "networks",
    { front: { aliases: ["www"], driver_opts: { mtu: 1400 } }, back: null },
    "Networks",
    [
      { Target: "back", Aliases: ["web"] },
      { Target: "front", Aliases: ["web", "www"], DriverOpts: { mtu: "1400" } },
    ],
  ],
];

/** The same of a service. */
export const SERVICE: readonly ServiceCase[] = [
  ["deploy", { mode: "global" }, "Mode", { Global: {} }],
  ["deploy", { mode: "global-job" }, "Mode", { GlobalJob: {} }],
  ["deploy", { mode: "replicated-job" }, "Mode", {
    ReplicatedJob: { MaxConcurrent: 1, TotalCompletions: 1 },
  }],
  ["deploy", {}, "Mode", { Replicated: { Replicas: 1 } }],
  [
    "deploy",
    {
      update_config: {
        parallelism: 2,
        delay: "10s",
        failure_action: "rollback",
        monitor: "15s",
        max_failure_ratio: 0.3,
        order: "start-first",
      },
    },
    "UpdateConfig",
    {
      Parallelism: 2,
      Delay: 10e9,
      FailureAction: "rollback",
      Monitor: 15e9,
      MaxFailureRatio: 0.3,
      Order: "start-first",
    },
  ],
  ["deploy", { rollback_config: { parallelism: 0 } }, "RollbackConfig", { Parallelism: 0 }],
  ["deploy", { endpoint_mode: "dnsrr" }, "EndpointSpec", { Mode: "dnsrr" }],
  ["ports", [{ target: 80, published: "8080", protocol: "tcp", mode: "ingress" }], "EndpointSpec", {
    Ports: [{ Protocol: "tcp", TargetPort: 80, PublishedPort: 8080, PublishMode: "ingress" }],
  }],
  [
    "ports",
    [{ target: 53, published: "53", protocol: "udp", mode: "host", name: "dns" }],
    "EndpointSpec",
    {
      Ports: [{
        Name: "dns",
        Protocol: "udp",
        TargetPort: 53,
        PublishedPort: 53,
        PublishMode: "host",
      }],
    },
  ],
  ["ports", [{ target: 80, mode: "ingress" }], "EndpointSpec", {
    Ports: [{ Protocol: "tcp", TargetPort: 80, PublishMode: "ingress" }],
  }],
];
