import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { JsonRecord } from "../../../../src/docker/json.ts";
import { formatDrift } from "../../../../src/model/mod.ts";
import { serviceBody } from "../../../../src/deploy/swarm/service_body.ts";
import { serviceDrift } from "../../../../src/deploy/swarm/service_drift.ts";

const SERVICE = {
  image: "app:1",
  command: ["serve"],
  environment: { A: "1", TOKEN: "hush" },
  labels: { team: "red", "stackwright.digest": "abc" },
  networks: { default: null },
  configs: [{ source: "greeting", target: "/greeting" }],
  ports: [{ target: 80, published: "8080", protocol: "tcp", mode: "ingress" }],
  deploy: {
    resources: { limits: { memory: "67108864" } },
    update_config: { parallelism: 2 },
    restart_policy: { condition: "any" },
  },
};
const NETWORKS = new Map([["net-id", "shop_default"], ["other-id", "other"]]);

function bodyOf(service: object = SERVICE) {
  return serviceBody("web", {
    stack: "shop",
    model: {
      name: "shop",
      services: { web: service },
      networks: { default: { name: "shop_default" } },
    } as never,
    api: "1.45",
    replicas: {},
    images: {},
    content: {},
    object: () => ({ id: "", name: "shop_greeting_00000000" }),
  });
}

/** The same as an engine tells of it, which adds what it takes where nothing is said. */
function told(
  change: (task: Record<string, never>, spec: Record<string, never>) => void = () => {},
) {
  const spec = JSON.parse(JSON.stringify(bodyOf()));
  const container = spec.TaskTemplate.ContainerSpec;
  Object.assign(container, { Isolation: "default", StopGracePeriod: 10e9, DNSConfig: {} });
  Object.assign(container, {
    Privileges: { CredentialSpec: null, SELinuxContext: null },
    TTY: false,
  });
  container.Configs[0].ConfigName = "shop_greeting_5891b5b5";
  container.Configs[0].ConfigID = "config-id";
  spec.TaskTemplate.Resources.Reservations = {};
  Object.assign(spec.TaskTemplate.RestartPolicy, { Delay: 5e9, MaxAttempts: 0 });
  Object.assign(spec.TaskTemplate, { ForceUpdate: 3, Runtime: "container" });
  spec.TaskTemplate.Networks[0].Target = "net-id";
  Object.assign(spec.UpdateConfig, {
    FailureAction: "pause",
    MaxFailureRatio: 0,
    Order: "stop-first",
  });
  spec.EndpointSpec.Mode = "vip";
  spec.Labels["stackwright.job.last_run"] = "now";
  change(spec.TaskTemplate, spec);
  return spec as JsonRecord;
}

// deno-lint-ignore no-explicit-any
type Change = (task: any, spec: any) => void;

describe("what somebody changed of a swarm's service", () => {
  const found = (change: Change) =>
    serviceDrift("web", bodyOf(), told(change), NETWORKS).map(formatDrift);

  it("is nothing where an engine says what it takes by itself", () => {
    assert.deepEqual(found(() => {}), []);
    assert.deepEqual(found((task) => task.ContainerSpec.Env.reverse()), []);
  });

  it("is named field by field, without what may be secret", () => {
    const cases: readonly (readonly [Change, ...string[]])[] = [
      [
        ({ ContainerSpec }) => ContainerSpec.Env.push("X=hush"),
        "environment X: set instead of none",
      ],
      [
        ({ ContainerSpec }) => ContainerSpec.Env = ["A=1", "TOKEN=other"],
        "environment TOKEN: another instead of that of its release",
      ],
      [
        ({ ContainerSpec }) => ContainerSpec.Env = ["A=1"],
        "environment TOKEN: none instead of set",
      ],
      [({ ContainerSpec }) => ContainerSpec.Image = "app:2", "image: app:2 instead of app:1"],
      [
        ({ ContainerSpec }) => ContainerSpec.Args = ["serve", "--key", "hush"],
        "command: another instead of that of its release",
      ],
      [
        ({ Resources }) => Resources.Limits.MemoryBytes = 33554432,
        "deploy.resources.limits.memory: 32 MiB instead of 64 MiB",
      ],
      [
        ({ Resources }) => Resources.Limits = { MemoryBytes: 67108864, NanoCPUs: 5e8 },
        "deploy.resources.limits.cpus: 0.5 instead of none",
      ],
      [
        ({ ContainerSpec }) => ContainerSpec.Labels.team = "blue",
        "label team: another instead of that of its release",
      ],
      [(_task, { Labels }) => Labels.extra = "1", "deploy.label extra: set instead of none"],
      [
        (_task, { UpdateConfig }) => UpdateConfig.Parallelism = 0,
        "deploy.update_config.parallelism: 0 instead of 2",
      ],
      [
        ({ RestartPolicy }) => RestartPolicy.Condition = "none",
        "deploy.restart_policy.condition: none instead of any",
      ],
      [
        ({ ContainerSpec }) => ContainerSpec.Configs = [],
        "config at /greeting: none instead of shop_greeting",
      ],
      [
        ({ ContainerSpec }) => ContainerSpec.Configs[0].ConfigName = "mine",
        "config at /greeting: mine instead of shop_greeting",
      ],
      [
        ({ ContainerSpec }) =>
          ContainerSpec.Mounts = [{ Type: "bind", Source: "/a", Target: "/b" }],
        "volume at /b: set instead of none",
      ],
      [
        ({ Networks }) => Networks[0].Target = "other-id",
        "network other: as web instead of none",
        "network shop_default: none instead of as web",
      ],
      [
        (_task, { EndpointSpec }) =>
          EndpointSpec.Ports.push({ TargetPort: 81, PublishMode: "host" }),
        "ports: 8080:80/tcp, 81/tcp on its node instead of 8080:80/tcp",
      ],
      [
        (_task, { EndpointSpec }) => EndpointSpec.Mode = "dnsrr",
        "deploy.endpoint_mode: dnsrr instead of vip",
      ],
    ];
    for (const [change, ...expected] of cases) {
      assert.deepEqual(found(change), expected.map((each) => `service web: ${each}`));
    }
    assert.doesNotMatch(cases.flatMap(([change]) => found(change)).join(), /hush/);
  });

  it("is nothing of a mount where an engine forgets, or takes by itself, how it is made", () => {
    const bind = { type: "bind", source: "/a", target: "/b" };
    const drift = (written: object, options: object) => {
      const body = bodyOf({ ...SERVICE, volumes: [{ ...bind, ...written }] });
      const change: Change = ({ ContainerSpec }) =>
        ContainerSpec.Mounts = [{ Type: "bind", Source: "/a", Target: "/b", ...options }];
      return serviceDrift("web", body, told(change), NETWORKS).map(formatDrift);
    };
    const filled = { BindOptions: { Propagation: "rprivate", NonRecursive: true } };
    assert.deepEqual(drift({ bind: { recursive: "disabled" } }, filled), []);
    assert.deepEqual(drift({ consistency: "cached" }, {}), []);
    const another = ["service web: volume at /b: another instead of that of its release"];
    assert.deepEqual(drift({}, filled), another);
    assert.deepEqual(drift({}, { BindOptions: { Propagation: "rslave" } }), another);
  });

  it("says nothing of networks that have no name here", () => {
    assert.deepEqual(found(({ Networks }) => Networks[0].Target = "unknown"), []);
  });
});
