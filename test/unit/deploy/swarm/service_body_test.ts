import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { serviceBody } from "../../../../src/deploy/swarm/service_body.ts";
import type { StackParts } from "../../../../src/deploy/swarm/stack_parts.ts";
import {
  MEANINGLESS_KEYS,
  meaninglessIn,
  notForSwarm,
} from "../../../../src/deploy/swarm/swarm_keys.ts";

type Service = Readonly<Record<string, unknown>>;

function partsOf(service: Service, more: Partial<StackParts> = {}, model: object = {}): StackParts {
  return {
    stack: "shop",
    model: { name: "shop", services: { web: { image: "app:1", ...service } }, ...model },
    api: "1.45",
    replicas: {},
    images: {},
    content: {},
    object: (kind, key) => ({ id: `${kind}-${key}-id`, name: `shop_${key}_12345678` }),
    ...more,
  };
}

function body(service: Service, more: Partial<StackParts> = {}, model: object = {}) {
  return serviceBody("web", partsOf(service, more, model));
}

/** Each key, what is written, and what a swarm is told; paths lead into the body of the service. */
const CONTAINER:
  readonly (readonly [key: string, written: unknown, path: string, told: unknown])[] = [
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

const TASK: typeof CONTAINER = [
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
  ["deploy", { resources: { limits: { cpus: 0.5, memory: "1024", pids: 9 } } }, "Resources", {
    Limits: { NanoCPUs: 5e8, MemoryBytes: 1024, Pids: 9 },
  }],
  [
    "deploy",
    {
      resources: {
        reservations: {
          cpus: 0.25,
          memory: "512",
          generic_resources: [{ discrete_resource_spec: { kind: "gpu", value: 2 } }],
        },
      },
    },
    "Resources",
    {
      Reservations: {
        NanoCPUs: 25e7,
        MemoryBytes: 512,
        GenericResources: [{ DiscreteResourceSpec: { Kind: "gpu", Value: 2 } }],
      },
    },
  ],
  ["mem_limit", "2048", "Resources", { Limits: { MemoryBytes: 2048 } }],
  ["mem_reservation", "1024", "Resources", { Reservations: { MemoryBytes: 1024 } }],
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

const SERVICE: typeof CONTAINER = [
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

describe("serviceBody()", () => {
  const at = (value: object, path: string) => (value as Record<string, unknown>)[path];
  for (const [key, written, path, told] of CONTAINER) {
    it(`turns ${key}: ${JSON.stringify(written)} into ${path} of the container`, () => {
      assert.deepEqual(notForSwarm(partsOf({ [key]: written }).model), []);
      assert.deepEqual(at(body({ [key]: written }).TaskTemplate.ContainerSpec, path), told);
    });
  }
  for (const [key, written, path, told] of TASK) {
    it(`turns ${key}: ${JSON.stringify(written)} into ${path} of the task`, () => {
      assert.deepEqual(notForSwarm(partsOf({ [key]: written }).model), []);
      assert.deepEqual(at(body({ [key]: written }).TaskTemplate, path), told);
    });
  }
  for (const [key, written, path, told] of SERVICE) {
    it(`turns ${key}: ${JSON.stringify(written)} into ${path} of the service`, () => {
      assert.deepEqual(notForSwarm(partsOf({ [key]: written }).model), []);
      assert.deepEqual(at(body({ [key]: written }), path), told);
    });
  }

  it("wants as many tasks as the release, runs the image with its digest, and names itself", () => {
    const made = body({}, { replicas: { web: 3 }, images: { web: "app:1@sha256:aa" } });
    assert.equal(made.Name, "shop_web");
    assert.deepEqual(made.Mode, { Replicated: { Replicas: 3 } });
    assert.equal(made.TaskTemplate.ContainerSpec.Image, "app:1@sha256:aa");
    assert.equal(made.Labels["com.docker.stack.image"], "app:1");
  });

  it("keeps what moves with a release off the task, whose labels would replace it", () => {
    const labels = {
      "mine": "1",
      "stackwright.manager": "stackwright",
      "stackwright.digest": "abc",
      "stackwright.source.configuration": "host/a",
    };
    const made = body({ labels, deploy: { labels: { "on.service": "2" } } });
    assert.deepEqual(made.TaskTemplate.ContainerSpec.Labels, {
      "mine": "1",
      "stackwright.manager": "stackwright",
      "com.docker.stack.namespace": "shop",
    });
    assert.deepEqual(made.Labels, {
      "on.service": "2",
      "stackwright.manager": "stackwright",
      "stackwright.digest": "abc",
      "stackwright.source.configuration": "host/a",
      "com.docker.stack.namespace": "shop",
      "com.docker.stack.image": "app:1",
    });
  });

  it("tells a task of the content of its mounted files, since nothing else of it changes", () => {
    const made = body({}, { content: { web: "digest" } });
    assert.equal(made.TaskTemplate.ContainerSpec.Labels?.["stackwright.content"], "digest");
  });

  it("does not let a task look like a container of a compose project", () => {
    const forged = {
      "com.docker.compose.project": "blog",
      "com.docker.compose.service": "db",
      "com.docker.compose.oneoff": "False",
      "com.docker.stack.namespace": "blog",
    };
    const made = body({ labels: { mine: "1", ...forged }, deploy: { labels: forged } });
    assert.deepEqual(made.TaskTemplate.ContainerSpec.Labels, {
      "mine": "1",
      "com.docker.stack.namespace": "shop",
    });
    assert.deepEqual(made.Labels, {
      "com.docker.stack.namespace": "shop",
      "com.docker.stack.image": "app:1",
    });
  });

  it("makes a named volume with its driver and labels, and leaves an external one alone", () => {
    const volumes = ["data", "theirs"].map((source) => ({
      type: "volume",
      source,
      target: `/${source}`,
    }));
    const model = {
      volumes: {
        data: {
          name: "shop_data",
          driver: "local",
          driver_opts: { type: "nfs" },
          labels: { a: "b" },
        },
        theirs: { name: "theirs", external: true },
      },
    };
    assert.deepEqual(body({ volumes }, {}, model).TaskTemplate.ContainerSpec.Mounts, [{
      Type: "volume",
      Source: "shop_data",
      Target: "/data",
      VolumeOptions: {
        Labels: { a: "b", "com.docker.stack.namespace": "shop" },
        DriverConfig: { Name: "local", Options: { type: "nfs" } },
      },
    }, { Type: "volume", Source: "theirs", Target: "/theirs" }]);
  });
});

describe("notForSwarm()", () => {
  const refused: readonly (readonly [key: string, value: unknown, told?: string])[] = [
    ["privileged", true],
    ["devices", [{ source: "/dev/a", target: "/dev/a", permissions: "rwm" }]],
    ["device_cgroup_rules", ["c 1:3 mr"]],
    ["pid", "host"],
    ["ipc", "host"],
    ["uts", "host"],
    ["cgroup", "host"],
    ["cgroup_parent", "m"],
    ["userns_mode", "host"],
    ["runtime", "runsc"],
    ["gpus", "all"],
    ["annotations", { a: "b" }],
    ["domainname", "example.org"],
    ["mac_address", "02:42:ac:11:00:02"],
    ["volumes_from", ["db"]],
    ["links", ["db"]],
    ["external_links", ["db"]],
    ["storage_opt", { size: "1G" }],
    ["blkio_config", { weight: 300 }],
    ["cpu_shares", 5],
    ["cpuset", "0"],
    ["cpu_quota", 5],
    ["memswap_limit", "5"],
    ["mem_swappiness", 5],
    ["oom_kill_disable", true],
    ["oom_score_adj", 5],
    ["post_start", [{ command: ["a"] }]],
    ["provider", { type: "a" }],
    ["something_new", 1],
    ["network_mode", "none", "network_mode: none"],
    ["network_mode", "service:db", "network_mode: service:db"],
    ["networks", { front: { ipv4_address: "10.0.0.2" } }, "networks.front.ipv4_address"],
    ["ports", [{ target: 80, published: "8000-8010" }], "ports: 8000-8010, which is not one port"],
    ["ports", [{ target: 80, published: "80", host_ip: "127.0.0.1" }], "ports.0.host_ip"],
    ["volumes", [{ type: "image", source: "a", target: "/a" }], "volumes: image"],
    [
      "volumes",
      [{ type: "bind", source: "/a", target: "/a", bind: { selinux: "z" } }],
      "volumes.0.bind.selinux",
    ],
    ["security_opt", ["seccomp:profile.json"], "security_opt: seccomp:profile.json"],
    [
      "deploy",
      { resources: { reservations: { devices: [{ capabilities: ["gpu"] }] } } },
      "deploy.resources.reservations.devices",
    ],
    [
      "deploy",
      { mode: "replicated-job", update_config: { parallelism: 1 } },
      "deploy.update_config of a job",
    ],
    [
      "deploy",
      { mode: "global-job", restart_policy: { condition: "any" } },
      "deploy.restart_policy.condition: any of a job",
    ],
    ["image", "", "image, which every service of a swarm needs"],
  ];
  for (const [key, value, told = key] of refused) {
    it(`names services.web.${told}`, () => {
      assert.deepEqual(notForSwarm(partsOf({ [key]: value }).model), [`services.web.${told}`]);
    });
  }

  it("names all that stands in the way, of services and of resources", () => {
    const model = {
      services: { a: { image: "a", privileged: true }, b: { image: "b", pid: "host" } },
      networks: { n: { name: "n", ipam: { options: { a: "b" } } } },
      secrets: { s: { name: "s", driver: "vault" } },
      models: { llm: { model: "a" } },
    };
    assert.deepEqual(notForSwarm(model), [
      "services.a.privileged",
      "services.b.pid",
      "networks.n.ipam.options",
      "secrets.s.driver",
      "models",
    ]);
  });

  it("has nothing against what an author notes for himself, or what compose prints for nothing", () => {
    const service = { "x-note": { a: 1 }, command: null, entrypoint: null, privileged: false };
    assert.deepEqual(notForSwarm({ ...partsOf(service).model, "x-more": 1 }), []);
  });

  it("lets what means nothing in a swarm pass, and says so", () => {
    for (const key of Object.keys(MEANINGLESS_KEYS)) {
      assert.deepEqual(notForSwarm(partsOf({ [key]: { a: 1 } }).model), [], key);
    }
    assert.deepEqual(meaninglessIn(partsOf({ container_name: "web", expose: ["80"] }).model), [
      "services.web.container_name means nothing in a swarm: tasks are named by the swarm",
    ]);
  });
});
