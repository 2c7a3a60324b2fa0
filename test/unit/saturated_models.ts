/**
 * Projects that have as much as {@link BOUNDS} allow, each of one kind: whatever looks at every entry of
 * one list for each of another meets both at their longest here.
 */
import { BOUNDS } from "../../src/compose/model_bounds.ts";
import type { ComposeModel } from "../../src/model/mod.ts";

/** Directory of the files that the projects name. */
export const TREE = "/data/trees/01234567";

type Json = Record<string, unknown>;

const { services: SERVICES, resources: RESOURCES, entries: ENTRIES, values: VALUES } = BOUNDS;

const list = <T>(count: number, each: (at: number) => T): T[] =>
  Array.from({ length: Math.floor(count) }, (_, at) => each(at));
const map = (count: number, each: (at: number) => unknown, name = "k"): Json =>
  Object.fromEntries(list(count, (at) => [`${name}${at}`, each(at)]));

/** So many services; an image and the service itself are two values. */
function services(each: (at: number) => Json, count: number = SERVICES): Json {
  return map(count, (at) => ({ image: `example.com/app:${at}`, ...each(at) }), "s");
}

/** Values for each of all services, where there are `others` besides. */
const share = (others = 0) => (VALUES - others - 100) / SERVICES - 6;
/** A part of a walk over all of `count`, another one for each service. */
const from = (service: number, at: number, count: number) => (service * 37 + at) % count;

const kind = (name: string, each: (at: number) => Json = () => ({})) => ({
  [name]: map(RESOURCES, (at) => ({ name: `shop_${name}_${at}`, ...each(at) }), `${name}-`),
});
const files = (name: string) => kind(name, (at) => ({ file: `${TREE}/${name}/${at}` }));
const use = (name: string, at: number) => ({
  source: `${name}-${at % RESOURCES}`,
  target: `/run/${name}/${at}`,
});
const bind = (source: string, target: string, rest: Json = {}) => ({
  type: "bind",
  source,
  target,
  ...rest,
});

/** A service with as many entries in every list and map as there may be, as far as `values` reach. */
function full(): Json {
  const texts = (name: string) => list(ENTRIES, (at) => `${name}-${at}`);
  const named = (value = "v") => map(ENTRIES, (at) => `${value}${at}`, "NAME_");
  const lists = [
    ...["cap_add", "cap_drop", "command", "entrypoint", "device_cgroup_rules", "dns", "dns_opt"],
    ...["dns_search", "env_file", "external_links", "group_add", "label_file", "links", "profiles"],
    ...["security_opt", "tmpfs", "volumes_from", "expose"],
  ];
  return {
    ...Object.fromEntries(lists.map((name) => [name, texts(name)])),
    expose: list(ENTRIES, (at) => String(at + 1)),
    volumes_from: list(ENTRIES, (at) => `container:other-${at}`),
    security_opt: list(ENTRIES, (at) => `label=type:t${at}`),
    tmpfs: list(ENTRIES, (at) => `/tmp/${at}:size=1m`),
    environment: named(),
    labels: named(),
    annotations: named(),
    extra_hosts: map(ENTRIES, () => ["10.0.0.1"], "host-"),
    sysctls: map(ENTRIES, () => "1", "net."),
    storage_opt: named(),
    ulimits: map(ENTRIES, () => ({ soft: 1, hard: 2 })),
    logging: { driver: "json-file", options: named() },
    healthcheck: { test: ["CMD", ...texts("x").slice(1)] },
    devices: list(
      ENTRIES,
      (at) => ({ source: `/dev/${at}`, target: `/dev/${at}`, permissions: "r" }),
    ),
    blkio_config: {
      device_read_bps: list(ENTRIES, (at) => ({ path: `/dev/${at}`, rate: "1mb" })),
    },
    deploy: {
      labels: named(),
      placement: {
        constraints: texts("node.labels.a==b"),
        preferences: list(ENTRIES, () => ({ spread: "a" })),
      },
      resources: {
        reservations: {
          generic_resources: list(
            ENTRIES,
            () => ({ discrete_resource_spec: { kind: "a", value: 1 } }),
          ),
        },
      },
    },
  };
}

const everyBuild = (): Json => ({
  build: {
    context: TREE,
    dockerfile: "Dockerfile",
    args: map(ENTRIES, (at) => `value-${at}`, "ARG_"),
    additional_contexts: map(ENTRIES, (at) => `${TREE}/contexts/${at}`),
    cache_from: list(ENTRIES, (at) => `example.com/cache:${at}`),
    cache_to: list(ENTRIES, (at) => `type=registry,ref=example.com/cache:${at}`),
    tags: list(ENTRIES, (at) => `example.com/app:${at}`),
    labels: map(ENTRIES, (at) => `value-${at}`),
    extra_hosts: list(ENTRIES, (at) => `host-${at}=10.0.0.1`),
    platforms: list(ENTRIES, () => "linux/amd64"),
    entitlements: list(ENTRIES, () => "network.host"),
    ssh: list(ENTRIES, (at) => `key${at}`),
    secrets: list(ENTRIES, (at) => use("secrets", at)),
  },
});

const hooks = (count: number): Json => ({
  pre_start: list(count / 4, (at) => ({ image: `hook:${at}`, command: ["a"] })),
});

const references = Math.floor(share() / 4);
const SHARED = { restart: true, condition: "service_started", required: true };

/** Services each of which uses its share of the project's secrets and configs. */
function servicesThatUse(...kinds: readonly string[]): Json {
  return services((at) =>
    Object.fromEntries(kinds.map((kind) => [
      kind,
      list(share(6 * RESOURCES) / 6, (index) => use(kind, from(at, index, RESOURCES))),
    ]))
  );
}

/** The projects by what they are full of. */
export const SATURATED: Readonly<Record<string, () => Json>> = {
  "every list of one service": () => ({ services: { s0: full() } }),
  "services that depend on others": () => ({
    services: services((at) => ({
      depends_on: map(Math.min(at, references), () => SHARED, "s"),
    })),
  }),
  "a chain of services": () => ({
    services: services((at) =>
      at === SERVICES - 1 ? {} : {
        network_mode: `service:s${at + 1}`,
        ipc: `service:s${at + 1}`,
        volumes_from: list(SERVICES - 1 - at, (index) => `s${at + 1 + index}`).slice(
          0,
          share() - 4,
        ),
      }
    ),
  }),
  "services that mount the volumes of a few": () => ({
    services: services((at) =>
      at < 48 ? { volumes_from: list(1950, (index) => `s${index % 48}:a${index}`) } : {}
    ),
  }),
  "mounts of parts of a volume": () => ({
    services: services((at) => ({
      volumes: list(8, (index) => ({
        type: "volume",
        source: "volumes-0",
        target: `/data/${index}`,
        volume: { subpath: `${at}/${index}` },
      })),
    })),
    volumes: {
      "volumes-0": {
        driver_opts: { device: `${"/d".repeat(250)}/${"d".repeat(3500)}`, o: "bind" },
      },
    },
  }),
  "services in networks": () => ({
    services: services((at) => ({
      networks: map(share(3 * RESOURCES), () => null, "networks-"),
      labels: { at: String(at) },
    })),
    ...kind("networks", (at) => ({ driver: `d${at}` })),
  }),
  "aliases in networks": () => ({
    services: {
      s0: {
        image: "a",
        networks: map(
          48,
          (at) => ({ aliases: list(ENTRIES, (index) => `alias-${at}-${index}`) }),
          "networks-",
        ),
      },
    },
    ...kind("networks"),
  }),
  "ranges and options of networks and volumes": () => ({
    services: services(() => ({})),
    networks: map(9, (at) => ({
      name: `shop_networks_${at}`,
      driver_opts: map(ENTRIES, (index) => `v${index}`),
      ipam: { config: list(ENTRIES, (index) => ({ subnet: `10.${at}.${index % 256}.0/28` })) },
    }), "networks-"),
    volumes: map(20, (at) => ({
      name: `shop_volumes_${at}`,
      driver_opts: map(ENTRIES, (index) => `/path/${index}`),
    }), "volumes-"),
  }),
  "mounts of volumes": () => ({
    services: services((at) => ({
      volumes: list(share(5 * RESOURCES) / 4, (index) => ({
        type: "volume",
        source: `volumes-${from(at, index, RESOURCES)}`,
        target: `/data/${index}`,
      })),
    })),
    ...kind("volumes", (at) => ({ driver_opts: { device: `${TREE}/devices/${at}`, o: "bind" } })),
  }),
  "mounts of files": () => ({
    services: services((at) => ({
      volumes: list(
        share() / 4,
        (index) => bind(`${TREE}/files/${at % 7}/${index}`, `/data/${at}/${index}`),
      ),
    })),
  }),
  "mounts in mounts": () => ({
    services: map(12, (at) => ({
      image: "a",
      volumes: list(
        VALUES / 12 / 4 - 10,
        (index) =>
          bind(
            `${TREE}/${at}${"/d".repeat(index % 60)}/${index}`,
            `/m${"/d".repeat(index % 20)}/${index}`,
          ),
      ).slice(0, ENTRIES),
    }), "s"),
  }),
  "mounts of images and hooks": () => ({
    services: services((at) => ({
      ...hooks(share() / 2),
      volumes: list(share() / 8, (index) => ({
        type: "image",
        source: `example.com/files:${at}-${index}`,
        target: `/image/${index}`,
      })),
    })),
  }),
  "hooks of one service": () => ({
    services: map(12, () => ({ image: "a", ...hooks(4 * ENTRIES) }), "s"),
  }),
  "mounts that are updated in place": () => ({
    services: map(11, (at) => ({
      image: "a",
      labels: {
        "stackwright.deployment.recreate.ignore": `bindMounts: [${
          list(200, (index) => `/data/${index}`).join(", ")
        }]`,
      },
      volumes: list(ENTRIES, (index) => bind(`${TREE}/files/${at}/${index}`, `/data/${index}`)),
    }), "s"),
  }),
  "secrets and configs": () => ({
    services: servicesThatUse("secrets", "configs"),
    ...files("secrets"),
    ...files("configs"),
  }),
  "secrets and configs of variables": () => ({
    services: servicesThatUse("secrets", "configs"),
    ...kind("secrets", (at) => ({ environment: `SECRET_${at}` })),
    ...kind("configs", (at) => ({ environment: `CONFIG_${at}` })),
  }),
  "secrets that somebody else makes": () => ({
    services: services(() => ({
      secrets: list(share(6 * RESOURCES) / 3, (index) => use("secrets", index % 10)),
    })),
    ...kind("secrets", () => ({ external: true })),
    ...kind("configs", () => ({ external: true })),
  }),
  "variables that sound secret": () => ({
    services: services((at) => ({
      environment: map(
        share(),
        (index) => `aaaaaaaa${index % 10 === 0 ? at * 1000 + index : "aa"}`,
        "TOKEN_",
      ),
    })),
  }),
  "labels": () => ({
    services: services((at) => ({
      labels: map(share(), (index) => `v${at}-${index}`, "a.label."),
    })),
  }),
  "arguments of builds": () => ({
    services: map(3, everyBuild, "s"),
    ...files("secrets"),
  }),
  "builds": () => ({
    services: services((at) => ({
      build: {
        context: `${TREE}/${at}`,
        args: map(share() / 2 - 4, (index) => `v${index}`, "ARG_"),
        additional_contexts: map(share() / 2 - 4, (index) => `${TREE}/${at}/${index}`),
      },
    })),
  }),
  "ports": () => ({
    services: services((at) => ({
      ports: list(39, (index) => ({
        mode: "ingress",
        target: index + 1,
        published: String(1024 + at * 39 + index),
        protocol: "tcp",
      })),
      expose: list(100, (index) => String(index + 1)),
    })),
  }),
  "ports of one service": () => ({
    services: {
      s0: {
        image: "a",
        ports: list(
          20_000,
          (at) => ({ target: at + 1, published: String(at + 1024), protocol: "tcp" }),
        ),
        expose: list(49_999, (at) => String(at + 1)),
      },
    },
  }),
  "labels that are none of ours": () => ({
    services: services(() => ({
      labels: map(10, () => "", `stackwright.${"deployment-recreate-".repeat(3)}`),
    })),
  }),
  "long texts": () => ({
    services: map(14, (at) => ({
      image: "a",
      environment: { TEXT: "aB3-".repeat(BOUNDS.text / 4 - 1) + at },
      command: ["--password", "x".repeat(1000)],
    }), "s"),
    secrets: map(1, () => ({ content: "aB3-".repeat(10_000) })),
  }),
  "long names": () => ({
    services: map(
      450,
      (at) => ({ image: "a".repeat(450) + at, environment: { A_TOKEN: `a${at}`.repeat(500) } }),
      "s",
    ),
  }),
};

/** The project of a name, as compose prints it. */
export function saturated(name: string): ComposeModel {
  return { name: "shop", ...SATURATED[name]?.() };
}
