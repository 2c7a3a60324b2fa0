import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  containerLabels,
  type ContainerParts,
  containerWish,
  wantedNetworks,
  wantedVolumes,
  withPlainDollars,
} from "../../../../src/deploy/mod.ts";
import { LABELS } from "../../../../src/model/mod.ts";
import type { ContainerMount } from "../../../../src/docker/engine.ts";

const IMAGE = "app:1";
const VOLUME = "ab".repeat(32);

function wish(service: Record<string, unknown>, parts: Partial<ContainerParts> = {}) {
  const networks = { default: null };
  return containerWish({
    model: {
      name: "shop",
      services: { web: { image: IMAGE, networks, ...service } },
      networks: { default: { name: "shop_default" }, back: { name: "other" } },
      volumes: { data: { name: "shop_data" } },
    },
    service: "web",
    number: 1,
    api: "1.47",
    labels: {},
    variables: {},
    idOf: (name) => `id of ${name}`,
    inherited: [],
    imageVolumes: new Set(),
    ...parts,
  });
}

function anonymous(destination: string, fields: Partial<ContainerMount> = {}): ContainerMount {
  return { kind: "volume", name: VOLUME, source: "", destination, writable: true, ...fields };
}

describe("a container's body", () => {
  const shapes: readonly {
    readonly title: string;
    readonly service: Record<string, unknown>;
    readonly parts?: Partial<ContainerParts>;
    readonly has: Record<string, unknown>;
  }[] = [
    {
      title: "shares the namespaces of another service's container",
      service: { network_mode: "service:db", pid: "service:db", ipc: "host" },
      has: {
        "HostConfig.NetworkMode": "container:id of db",
        "HostConfig.PidMode": "container:id of db",
        "HostConfig.IpcMode": "host",
        "NetworkingConfig": undefined,
      },
    },
    {
      title: "reads volumes of another service only where that is written",
      service: { volumes_from: ["db:ro", "container:other", "cache"] },
      has: { "HostConfig.VolumesFrom": ["id of db:ro", "other", "id of cache"] },
    },
    {
      title: "takes the image's variable away where none is given, and puts proxies below",
      service: { environment: { A: null, B: "own" } },
      parts: { variables: { B: "proxy", HTTP_PROXY: "http://p" } },
      has: { "Env": ["B=own", "HTTP_PROXY=http://p", "A"] },
    },
    {
      title: "keeps an empty entrypoint, which is not the image's",
      service: { entrypoint: [], command: null },
      has: { "Entrypoint": [], "Cmd": undefined },
    },
    {
      title: "has its grace period in whole seconds",
      service: { stop_grace_period: "1m1.5s" },
      has: { "StopTimeout": 61 },
    },
    {
      title: "has the restart policy of deploy as a whole",
      service: { restart: "always", deploy: { restart_policy: { max_attempts: 3 } } },
      has: { "HostConfig.RestartPolicy": { Name: "", MaximumRetryCount: 3 } },
    },
    {
      title: "has the path of a bind made only where it is to be made",
      service: {
        volumes: [
          { type: "bind", source: "/a", target: "/a", bind: { create_host_path: true } },
          { type: "bind", source: "/b", target: "/b", bind: {} },
        ],
      },
      has: {
        "HostConfig.Binds": ["/a:/a:rw"],
        "HostConfig.Mounts": [{
          Type: "bind",
          Source: "/b",
          Target: "/b",
          ReadOnly: false,
          BindOptions: { Propagation: "", CreateMountpoint: false },
        }],
      },
    },
    {
      title: "shows a config at the place of a volume that somebody wrote down: the volume",
      service: {
        configs: [{ source: "c", target: "/x" }],
        volumes: [{ type: "volume", source: "data", target: "/x", volume: {} }],
      },
      has: { "HostConfig.Binds": ["shop_data:/x:rw"], "HostConfig.Mounts": undefined },
    },
    {
      title: "keeps the volumes without a name of the container it replaces, and no others",
      service: { volumes: [{ type: "volume", target: "/kept" }] },
      parts: {
        inherited: [
          anonymous("/kept"),
          anonymous("/of-image", { writable: false }),
          anonymous("/left-the-file"),
          anonymous("/named", { name: "shop_data" }),
          anonymous("/bind", { kind: "bind", name: "" }),
        ],
        imageVolumes: new Set(["/of-image", "/named", "/bind"]),
      },
      has: {
        "HostConfig.Mounts": [
          { Type: "volume", Source: VOLUME, Target: "/kept", ReadOnly: false },
          { Type: "volume", Source: VOLUME, Target: "/of-image", ReadOnly: true },
        ],
      },
    },
    {
      title: "is found in its networks by its name, its service and its aliases",
      service: { networks: { back: { aliases: ["b"], priority: 5 }, default: null } },
      has: {
        "HostConfig.NetworkMode": "other",
        "NetworkingConfig.EndpointsConfig": {
          other: { Aliases: ["shop-web-1", "web", "b"], IPAMConfig: {} },
          shop_default: { Aliases: ["shop-web-1", "web"], IPAMConfig: {} },
        },
      },
    },
  ];
  for (const { title, service, parts, has } of shapes) {
    it(title, () => {
      const { body } = wish(service, parts);
      for (const [path, value] of Object.entries(has)) {
        const found = path.split(".").reduce<unknown>(
          (at, key) => (at as Record<string, unknown> | undefined)?.[key],
          body,
        );
        assert.deepEqual(found, value, path);
      }
    });
  }

  it("tells an old engine nothing that it would leave out in silence", () => {
    const service = {
      mac_address: "02:42:ac:11:00:07",
      annotations: { a: "b" },
      healthcheck: { test: ["CMD", "true"], start_interval: "1s" },
      networks: { default: null, back: { gw_priority: 2 } },
    };
    const old = wish(service, { api: "1.41" });
    assert.equal(old.body.MacAddress, "02:42:ac:11:00:07");
    assert.equal(old.body.HostConfig.Annotations, undefined);
    assert.equal(old.body.Healthcheck?.StartInterval, undefined);
    assert.deepEqual(Object.keys(old.body.NetworkingConfig?.EndpointsConfig ?? {}), ["other"]);
    assert.deepEqual(Object.keys(old.connect), ["shop_default"]);

    const now = wish(service, { api: "1.48" });
    assert.equal(now.body.MacAddress, undefined);
    assert.deepEqual(now.body.HostConfig.Annotations, { a: "b" });
    assert.equal(now.body.Healthcheck?.StartInterval, 1e9);
    assert.deepEqual(now.connect, {});
    const { other } = now.body.NetworkingConfig?.EndpointsConfig ?? {};
    assert.equal(other?.MacAddress, "02:42:ac:11:00:07");
    assert.equal(other?.GwPriority, 2);
  });
});

describe("a model with plain dollars", () => {
  it("has each of them once", () => {
    const model = { services: { a: { command: ["echo", "$$HOME $$$$"], labels: { "k$": "v" } } } };
    assert.deepEqual(withPlainDollars(model), {
      services: { a: { command: ["echo", "$HOME $$"], labels: { "k$": "v" } } },
    });
  });
});

describe("the labels of a container", () => {
  const labels = (service: Record<string, unknown>, composeVersion = "5.5.0") =>
    containerLabels({
      model: { name: "shop", services: { web: { image: IMAGE, ...service } } },
      project: "shop",
      service: "web",
      number: 2,
      imageId: "sha256:1",
      directory: "/d",
      files: ["-"],
      composeVersion,
      idOf: () => "an-id",
    });
  const hash = (service: Record<string, unknown>, version?: string) =>
    labels(service, version)["com.docker.compose.config-hash"];

  it("are its author's, and those by which compose knows it", () => {
    const service = { labels: { a: "b" }, depends_on: { db: { condition: "service_healthy" } } };
    const { "com.docker.compose.config-hash": found, ...others } = labels(service);
    assert.match(found ?? "", /^[0-9a-f]{64}$/);
    assert.deepEqual(others, {
      "a": "b",
      "com.docker.compose.project": "shop",
      "com.docker.compose.service": "web",
      "com.docker.compose.container-number": "2",
      "com.docker.compose.oneoff": "False",
      "com.docker.compose.image": "sha256:1",
      "com.docker.compose.project.working_dir": "/d",
      "com.docker.compose.project.config_files": "-",
      "com.docker.compose.depends_on": "db:service_healthy:false",
    });
  });

  it("say by their hash what the author wrote, and not what we add", () => {
    const ours = { [LABELS.digest]: "x", [LABELS.manager]: "stackwright" };
    assert.equal(hash({ labels: ours }), hash({}));
    assert.equal(hash({ labels: { a: "b", ...ours } }), hash({ labels: { a: "b" } }));
    assert.notEqual(hash({ labels: { a: "b" } }), hash({}));
  });

  it("leave out of their hash what the version of compose leaves out", () => {
    const depends = { depends_on: { db: { condition: "service_started" } } };
    assert.equal(hash(depends, "5.5.0"), hash({}, "5.5.0"));
    assert.equal(hash(depends, ""), hash({}, ""));
    assert.notEqual(hash(depends, "2.26.1"), hash({}, "2.26.1"));
  });
});

describe("the networks and volumes of a model", () => {
  const model = {
    name: "shop",
    networks: { net: { name: "shop_net", internal: true, enable_ipv4: false } },
    volumes: { out: { name: "theirs", external: true } },
  };

  it("carry what compose knows them by", () => {
    assert.deepEqual(wantedNetworks(model, "1.48"), [{
      key: "net",
      name: "shop_net",
      external: false,
      body: {
        Name: "shop_net",
        Internal: true,
        Attachable: false,
        EnableIPv4: false,
        Labels: { "com.docker.compose.project": "shop", "com.docker.compose.network": "net" },
      },
    }]);
    assert.equal(wantedVolumes(model)[0]?.external, true);
  });

  it("are asked of an old engine without a second one of the same name", () => {
    const [net] = wantedNetworks(model, "1.41");
    assert.equal(net?.body.CheckDuplicate, true);
    assert.equal(net?.body.EnableIPv4, undefined);
  });
});
