import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { serviceBody } from "../../../../src/deploy/swarm/service_body.ts";
import type { StackParts } from "../../../../src/deploy/swarm/stack_parts.ts";
import {
  MEANINGLESS_KEYS,
  meaninglessIn,
  notForSwarm,
} from "../../../../src/deploy/swarm/swarm_keys.ts";
import { CONTAINER, SERVICE, TASK } from "./service_cases.ts";

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

describe("serviceBody()", () => {
  it("takes nothing that every object has for what is known of a service of that name", () => {
    const model = { services: { constructor: { image: "app:1" } } };
    const { TaskTemplate, Mode } = serviceBody("constructor", partsOf({}, {}, model));
    assert.equal(TaskTemplate.ContainerSpec.Image, "app:1");
    assert.equal(TaskTemplate.ContainerSpec.Labels?.["stackwright.content"], undefined);
    assert.deepEqual(Mode, { Replicated: { Replicas: 1 } });
  });

  it("has a name that a swarm takes, or is refused before anything is touched", () => {
    const refused = (name: string) =>
      notForSwarm({ name: "shop", services: { [name]: { image: "a" } } }).length > 0;
    assert.deepEqual(["web", "a_b-C", "w".repeat(58)].filter(refused), []);
    for (const name of ["my.web", "web_", "w".repeat(59)]) assert.ok(refused(name), name);
  });

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

  it("asks no engine for what it would not keep", () => {
    const service = { security_opt: ["no-new-privileges:true", "label:disable"] };
    const told = (api: string) => body(service, { api }).TaskTemplate.ContainerSpec.Privileges;
    assert.deepEqual(told("1.43"), { SELinuxContext: { Disable: true } });
    assert.deepEqual(told("1.44"), { NoNewPrivileges: true, SELinuxContext: { Disable: true } });
  });

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
