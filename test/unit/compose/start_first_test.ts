import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  askedOrder,
  claimsOf,
  requireStartFirst,
  sharesWrites,
  startFirstObstacles,
} from "../../../src/compose/mod.ts";
import { isStackwrightError } from "../../../src/model/mod.ts";

type Part = Readonly<Record<string, unknown>>;

const port = (published: string) => ({ mode: "ingress", target: 80, published, protocol: "tcp" });
const volume = { type: "volume", source: "data", target: "/data" };
const modelOf = (web: Part, others: Readonly<Record<string, Part>> = {}) => ({
  name: "shop",
  services: { web, ...others },
});

/** What forbids that a second container runs beside the first; nothing where the text is empty. */
const TABLE: readonly (readonly [what: string, web: Part, obstacle: string])[] = [
  ["nothing", { image: "web" }, ""],
  ["a fixed port of the host", { ports: [port("8080")] }, "ports.0 publishes port 8080 "],
  ["the same for one address", { ports: [{ ...port("80"), host_ip: "127.0.0.1" }] }, "ports.0 "],
  ["a port that the engine chooses", { ports: [port(""), port("0"), { target: 80 }] }, ""],
  ["a range with room for one more", { ports: [port("8000-8001")] }, ""],
  [
    "a range that all replicas fill",
    { ports: [port(""), port("8000-8001")], deploy: { replicas: 2 } },
    "ports.1 publishes 8000-8001, too few ports for 3 ",
  ],
  [
    "a fixed address",
    { networks: { front: null, back: { ipv4_address: "10.0.0.2" } } },
    "networks.back.ipv4_address ",
  ],
  ["one of the newer kind", { networks: { a: { ipv6_address: "fd00::2" } } }, "networks.a.ipv6_"],
  ["a fixed hardware address", { mac_address: "02:42:ac:11:65:43" }, "mac_address "],
  ["that in a network", { networks: { a: { mac_address: "02:42" } } }, "networks.a.mac_address "],
  ["the host's network", { network_mode: "host" }, "network_mode is host"],
  ["another service's network", { network_mode: "service:db" }, "network_mode is service:db"],
  ["another container's processes", { pid: "container:db" }, "pid is container:db"],
  ["the host's shared memory", { ipc: "host" }, "ipc is host"],
  ["no network", { network_mode: "none" }, ""],
  ["a volume", { volumes: [volume] }, "volumes.0 (/data) may be written to"],
  ["a volume without a name", { volumes: [{ type: "volume", target: "/d" }] }, "volumes.0 (/d) "],
  ["a path of the host", { volumes: [{ ...volume, type: "bind", source: "/d" }] }, "volumes.0 "],
  ["a volume that is only read", { volumes: [{ ...volume, read_only: true }] }, ""],
  ["memory", { volumes: [{ type: "tmpfs", target: "/tmp" }], tmpfs: ["/run"] }, ""],
  ["a volume that several containers share", { volumes: [volume], scale: 2 }, ""],
  [
    "a volume whose author says that it can be shared",
    { volumes: [volume], labels: { "stackwright.update.shares_writes": "true" } },
    "",
  ],
  ["volumes of another service", { volumes_from: ["db"] }, "volumes_from db may be written to"],
  ["those that are only read", { volumes_from: ["db:ro"] }, ""],
  ["a name of the container", { container_name: "web" }, ""],
  [
    "one that runs once",
    { labels: { "stackwright.deployment.one_shot": "true" } },
    "it runs once and ends",
  ],
  [
    "one that is not started",
    { labels: { "stackwright.deployment.autostart": "false" } },
    "deployments do not start it",
  ],
];

describe("startFirstObstacles()", () => {
  for (const [what, web, obstacle] of TABLE) {
    it(`${obstacle === "" ? "is not" : "is"} ${what}`, () => {
      const found = startFirstObstacles(modelOf(web))("web") ?? "";
      assert.equal(found.startsWith(obstacle) && (found === "") === (obstacle === ""), true, found);
    });
  }

  const sharers: readonly (readonly [other: Part, obstacle: string | undefined])[] = [
    [{ network_mode: "service:web" }, "side shares the network namespace of web"],
    [{ volumes_from: ["web:ro"] }, "side mounts the volumes of web"],
    [{ depends_on: { web: { condition: "service_started", restart: true } } }, undefined],
    [{ depends_on: { web: { condition: "service_completed_successfully" } } }, "it runs once"],
  ];
  for (const [side, obstacle] of sharers) {
    it(`is ${obstacle ?? "not what only depends on it"}`, () => {
      const found = startFirstObstacles(modelOf({}, { side }))("web");
      assert.equal(
        obstacle === undefined ? found === undefined : found?.startsWith(obstacle),
        true,
      );
    });
  }

  it("is there wherever two containers would claim the same thing", () => {
    const mixed = TABLE.flatMap(([, one]) => TABLE.map(([, other]) => ({ ...one, ...other })));
    for (const web of mixed) {
      const model = modelOf(web);
      if (startFirstObstacles(model)("web") !== undefined) continue;
      const { ports, addresses, hostNetwork, writes } = claimsOf(model, "web");
      assert.deepEqual([ports, addresses, hostNetwork], [[], [], false], JSON.stringify(web));
      assert.equal(writes.length === 0 || sharesWrites(web), true, JSON.stringify(web));
    }
  });
});

describe("requireStartFirst()", () => {
  const label = (value: string) => ({ labels: { "stackwright.update.require": value } });
  const refused = (model: Part, text: RegExp) =>
    assert.throws(
      () => requireStartFirst(model),
      (error) => isStackwrightError(error, "config_invalid") && text.test(error.message),
    );

  it("lets a service pass that requires it and can be, or that only asks for it", () => {
    const asks = { deploy: { update_config: { order: "start-first" } }, ports: [port("80")] };
    requireStartFirst(modelOf(label("start-first"), { asks }));
  });

  it("names every service that cannot be, and what forbids it", () => {
    const other = { ...label("start-first"), network_mode: "host" };
    const model = modelOf({ ...label("start-first"), ports: [port("80")] }, { other });
    refused(model, /service web .*port 80.*; service other .*network_mode is host/);
  });

  it("refuses another value than the one there is", () => {
    refused(modelOf(label("stop-first")), /service web: the label .* may only be start-first/);
  });
});

describe("askedOrder()", () => {
  const rows: readonly (readonly [Part, "forward" | "back", string])[] = [
    [{}, "forward", "stop-first"],
    [{ deploy: { update_config: { order: "start-first" } } }, "forward", "start-first"],
    [{ deploy: { update_config: { order: "start-first" } } }, "back", "start-first"],
    [
      {
        deploy: {
          update_config: { order: "start-first" },
          rollback_config: { order: "stop-first" },
        },
      },
      "back",
      "stop-first",
    ],
    [{ deploy: { rollback_config: { order: "start-first" } } }, "forward", "stop-first"],
    [{ labels: { "stackwright.update.require": "start-first" } }, "forward", "start-first"],
  ];
  for (const [web, way, order] of rows) {
    it(`is ${order} ${way} of ${JSON.stringify(web)}`, () => {
      assert.equal(askedOrder(web, way), order);
    });
  }
});
