import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { changedNetworks } from "../../../src/deploy/mod.ts";
import type { NetworkFacts, ResourceSummary } from "../../../src/docker/engine.ts";

type Made = Partial<NetworkFacts> & Partial<Pick<ResourceSummary, "driver" | "options">>;

function changes(wanted: Readonly<Record<string, unknown>>, made: Made): unknown {
  const { driver = "bridge", options = {}, ...facts } = made;
  const pools = [{ subnet: "172.30.0.0/16", gateway: "172.30.0.1", range: "" }];
  const network = { internal: false, attachable: false, ipv6: false, pools, ...facts };
  const existing = { id: "1", name: "shop_inner", driver, labels: {}, options, network };
  const networks = { inner: { name: "shop_inner", ...wanted } };
  return changedNetworks({ name: "shop", services: {}, networks }, [existing])
    .map(({ key, name, id, changed }) => [key, name, id, ...changed]);
}

const pool = (more = {}) => ({ ipam: { config: [{ subnet: "172.30.0.0/16", ...more }] } });

describe("changedNetworks()", () => {
  const same: readonly (readonly [string, Parameters<typeof changes>])[] = [
    ["what the engine chose", [{ ipam: {} }, { options: { "com.docker.network.x": "1" } }]],
    ["the driver by its name", [{ driver: "bridge" }, {}]],
    ["equal options", [{ driver_opts: { n: 5 } }, { options: { n: "5", more: "1" } }]],
    ["internal as it was", [{ internal: true }, { internal: true }]],
    ["flags that nobody wrote", [{}, { attachable: true, ipv6: true }]],
    ["the same range", [pool(), {}]],
    ["the same range written otherwise", [pool({ subnet: "172.30.7.0/16" }), {}]],
    ["the same gateway", [pool({ gateway: "172.30.0.1" }), {}]],
    ["an external network", [{ external: true, internal: true }, {}]],
    ["a network of another name", [{ name: "shop_new", internal: true }, {}]],
  ];
  for (const [title, parts] of same) {
    it(`lets ${title} be`, () => assert.deepEqual(changes(...parts), []));
  }

  const other: readonly (readonly [string, Parameters<typeof changes>])[] = [
    ["internal", [{ internal: true }, {}]],
    ["internal", [{}, { internal: true }]],
    ["driver", [{ driver: "macvlan" }, {}]],
    ["attachable", [{ attachable: true }, {}]],
    ["enable_ipv6", [{ enable_ipv6: false }, { ipv6: true }]],
    ["driver_opts.n", [{ driver_opts: { n: "canary" } }, { options: { n: "5" } }]],
    ["ipam.config", [pool({ subnet: "172.31.0.0/16" }), {}]],
    ["ipam.config", [pool({ gateway: "172.30.0.9" }), {}]],
    ["ipam.config", [pool({ ip_range: "172.30.5.0/24" }), {}]],
  ];
  for (const [changed, parts] of other) {
    it(`finds another ${changed} (${JSON.stringify(parts[0])})`, () => {
      assert.deepEqual(changes(...parts), [["inner", "shop_inner", "1", changed]]);
    });
  }
});
