import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { fieldDrift } from "../../../../src/deploy/mod.ts";
import type { JsonRecord } from "../../../../src/docker/json.ts";
import { observedContainer } from "../../../../src/docker/observed_container.ts";
import type { ContainerDetails } from "../../../../src/docker/mod.ts";
import { COMPOSE_LABELS, formatDrift } from "../../../../src/model/mod.ts";

/** A container of the service `web` as inspection shows it. */
function details(host: JsonRecord, more: Partial<ContainerDetails> = {}): ContainerDetails {
  const own = { [COMPOSE_LABELS.service]: "web", [COMPOSE_LABELS.project]: "shop" };
  const Labels = { ...own, [COMPOSE_LABELS.number]: "1" };
  return {
    container: observedContainer({ Id: "c1", Names: ["/shop-web-1"], State: "running", Labels }),
    startedAt: undefined,
    restartCount: 0,
    stopTimeoutSeconds: 10,
    error: "",
    healthOutput: "",
    mounts: [],
    host,
    ...more,
  };
}

function driftOf(service: Readonly<Record<string, unknown>>, found: ContainerDetails): string[] {
  const model = {
    name: "shop",
    services: { web: { image: "web", ...service } },
    networks: { default: { name: "shop_default" } },
  };
  return fieldDrift(model, found, 1).map((each) =>
    formatDrift(each).replace("container shop-web-1: ", "")
  );
}

const MIB = 2 ** 20;

describe("fieldDrift()", () => {
  const limits: readonly (readonly [string, Record<string, unknown>, JsonRecord, string[]])[] = [
    [
      "memory that was changed",
      { mem_limit: "134217728" },
      { Memory: 64 * MIB, MemorySwap: 256 * MIB },
      ["mem_limit: 64 MiB instead of 128 MiB"],
    ],
    [
      "a limit that nobody asked for",
      {},
      { Memory: 2 ** 30, MemorySwap: 2 ** 31 },
      ["mem_limit: 1 GiB instead of no limit"],
    ],
    ["swap that follows memory", { mem_limit: MIB }, { Memory: MIB, MemorySwap: 2 * MIB }, []],
    ["swap that is not counted", { mem_limit: MIB }, { Memory: MIB, MemorySwap: -1 }, []],
    [
      "a limit of swap on a kernel that does not count it",
      { mem_limit: MIB, memswap_limit: 2 * MIB },
      { Memory: MIB, MemorySwap: -1 },
      [],
    ],
    [
      "another limit of swap",
      { mem_limit: MIB, memswap_limit: MIB },
      { Memory: MIB, MemorySwap: 2 * MIB },
      ["memswap_limit: 2 MiB instead of 1 MiB"],
    ],
    [
      "swap that does not",
      { mem_limit: MIB },
      { Memory: MIB, MemorySwap: 3 * MIB },
      ["memswap_limit: 3 MiB instead of no limit"],
    ],
    [
      "processors",
      { deploy: { resources: { limits: { cpus: 0.5 } } } },
      { NanoCpus: 1.5e9 },
      ["cpus: 1.5 instead of 0.5"],
    ],
    [
      "processors that are told as a quota, too",
      { cpus: 0.333333 },
      { NanoCpus: 333330000, CpuPeriod: 100000, CpuQuota: 33333 },
      [],
    ],
    [
      "a quota that is told as processors, too",
      { cpu_quota: 50000 },
      { NanoCpus: 5e8, CpuPeriod: 100000, CpuQuota: 50000 },
      [],
    ],
    [
      "other processors, told as a quota, too",
      { cpus: 0.5 },
      { NanoCpus: 1.5e9, CpuPeriod: 100000, CpuQuota: 150000 },
      [
        "cpus: 1.5 instead of 0.5",
        "cpu_period: 100000 instead of no limit",
        "cpu_quota: 150000 instead of no limit",
      ],
    ],
    [
      "a quota that nobody asked for",
      {},
      { NanoCpus: 0, CpuPeriod: 0, CpuQuota: 50000 },
      ["cpu_quota: 50000 instead of no limit"],
    ],
    ["shares", {}, { CpuShares: 512 }, ["cpu_shares: 512 instead of no limit"]],
    ["a set of processors", { cpuset: "0" }, { CpusetCpus: "0-1" }, ["cpuset: 0-1 instead of 0"]],
    ["processes", { pids_limit: 100 }, { PidsLimit: 50 }, ["pids_limit: 50 instead of 100"]],
    ["processes as podman limits them by itself", {}, { PidsLimit: 2048 }, []],
    [
      "processes that were limited by hand",
      { pids_limit: 100 },
      { PidsLimit: 2048 },
      ["pids_limit: 2048 instead of 100"],
    ],
    ["no limit of processes", { pids_limit: 100 }, { PidsLimit: 0 }, [
      "pids_limit: no limit instead of 100",
    ]],
    ["what is written as no limit", { pids_limit: -1 }, { PidsLimit: null }, []],
    ["a limit that this engine has not", { pids_limit: 100 }, { PidsLimit: null }, []],
    ["memory that this engine has not", { mem_limit: MIB }, { Memory: 0, MemorySwap: 0 }, []],
    ["weight", {}, { BlkioWeight: 300 }, ["blkio_config.weight: 300 instead of no limit"]],
    ["weight, which compose sets", { blkio_config: { weight: 300 } }, { BlkioWeight: 300 }, []],
    [
      "a restart policy",
      { restart: "unless-stopped" },
      { RestartPolicy: { Name: "no", MaximumRetryCount: 0 } },
      ["restart: no instead of unless-stopped"],
    ],
    [
      "how often it is tried",
      { restart: "on-failure:3" },
      { RestartPolicy: { Name: "on-failure", MaximumRetryCount: 5 } },
      ["restart: on-failure:5 instead of on-failure:3"],
    ],
    ["no policy", {}, { RestartPolicy: { Name: "", MaximumRetryCount: 0 } }, []],
  ];
  for (const [title, service, host, lines] of limits) {
    it(`finds ${title}`, () => {
      const policy = { RestartPolicy: { Name: "no", MaximumRetryCount: 0 } };
      assert.deepEqual(driftOf(service, details({ ...policy, ...host })), lines);
    });
  }

  it("finds names and addresses that are gone from a network, and labels", () => {
    const service = {
      networks: { default: { aliases: ["www"], ipv4_address: "10.9.0.7" } },
      // A container of an earlier build has no label that ours have since.
      labels: { a: "1", "com.docker.swarm.service.id": "" },
    };
    const endpoint = { ipv4: "10.9.0.8", ipv6: "", aliases: ["shop-web-1", "web"] };
    assert.deepEqual(driftOf(service, details({}, { endpoints: { shop_default: endpoint } })), [
      "alias www in network shop_default: none instead of set",
      "ipv4_address in network shop_default: 10.9.0.8 instead of 10.9.0.7",
      "label a: none instead of set",
    ]);
  });

  it("finds nothing of a network that it is not in, and of an engine that says nothing", () => {
    const service = { networks: { default: null } };
    assert.deepEqual(driftOf(service, details({})), []);
    assert.deepEqual(driftOf({ mem_limit: MIB, restart: "always" }, { ...details({}), host: {} }), [
      "restart: no instead of always",
    ]);
  });
});
