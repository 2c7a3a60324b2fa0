import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { changedNetworks } from "../../../src/deploy/mod.ts";
import type { NetworkFacts, ResourceSummary } from "../../../src/docker/engine.ts";

type Made = Partial<NetworkFacts> & Partial<Pick<ResourceSummary, "driver" | "options">>;

type Definition = Readonly<Record<string, unknown>>;

function changes(wanted: Definition, made: Made, before?: Definition): unknown {
  const { driver = "bridge", options = {}, ...facts } = made;
  const pools = [{ subnet: "172.30.0.0/16", gateway: "172.30.0.1", range: "" }];
  const network = { internal: false, attachable: false, ipv6: false, pools, ...facts };
  const existing = { id: "1", name: "shop_inner", driver, labels: {}, options, network };
  const defined = (definition: Definition) => ({
    name: "shop",
    services: {},
    networks: { inner: { name: "shop_inner", ...definition } },
  });
  return changedNetworks(defined(wanted), [existing], before && (() => defined(before)))
    .map(({ key, name, id, changed }) => [key, name, id, ...changed]);
}

const pool = (more = {}) => ({ ipam: { config: [{ subnet: "172.30.0.0/16", ...more }] } });
const six = (subnet: string, more = {}) => pool({ subnet, ...more });
const range = (subnet: string, more = {}) => ({
  pools: [{ subnet, gateway: "", range: "", ...more }],
});
const fixed = { gateway: "172.30.0.1", ip_range: "172.30.5.0/24" };
const icc = { "com.docker.network.bridge.enable_icc": "false" };

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
    ["an option with a dollar", [{ driver_opts: { n: "a$$b" } }, { options: { n: "a$b" } }]],
    ["what a person chose and no release asked for", [{}, { options: icc, driver: "macvlan" }, {}]],
    ["what is taken back and was never made", [{}, { pools: [] }, {
      driver_opts: icc,
      ...pool(fixed),
    }]],
    ["what is not asked for any more and would be so", [
      {},
      {},
      { driver: "bridge", attachable: false, enable_ipv4: true, enable_ipv6: false },
    ]],
    ["what an external network was", [{}, { options: icc }, { external: true, driver_opts: icc }]],
    ["a range of IPv6 written otherwise", [six("fd07:1::/64"), {}, six("FD07:01:0::/64")]],
    ["what is in place already", [
      { ...six("fd07:2::/64", { gateway: "fd07:2::0:5" }), driver_opts: {} },
      { ...range("fd07:2::/64", { gateway: "fd07:2::5" }), options: {} },
      { ...six("fd07:1::/64"), driver_opts: icc },
    ]],
    ["what an engine does not tell, and no commit changed", [
      { ...pool({ aux_addresses: { h: "172.30.0.9" } }), enable_ipv4: true },
      {},
      { ...pool({ aux_addresses: { h: "172.30.0.9" } }), enable_ipv4: true },
    ]],
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
  const aux = (h: string) => pool({ aux_addresses: { h } });
  const back: typeof other = [
    ["driver", [{}, { driver: "macvlan" }, { driver: "macvlan" }]],
    [Object.keys(icc).map((name) => `driver_opts.${name}`).join(), [
      {},
      { options: { ...icc, more: "1" } },
      { driver_opts: icc },
    ]],
    ["attachable", [{}, { attachable: true }, { attachable: true }]],
    ["enable_ipv4", [{}, { ipv4: false }, { enable_ipv4: false }]],
    ["enable_ipv6", [{}, { ipv6: true }, { enable_ipv6: true }]],
    ["ipam.driver", [{}, { ipamDriver: "own" }, { ipam: { driver: "own" } }]],
    ["ipam.driver", [{ ipam: { driver: "own" } }, { ipamDriver: "default" }, {}]],
    ["ipam.options.n", [{ ipam: { options: { n: "2" } } }, { ipamOptions: { n: "1" } }, {
      ipam: { options: { n: "1" } },
    }]],
    ["ipam.options.n", [{}, { ipamOptions: { n: "1" } }, { ipam: { options: { n: "1" } } }]],
    ["ipam.config", [{}, {}, pool()]],
    ["ipam.config", [pool(), {}, pool({ gateway: "172.30.0.1" })]],
    ["ipam.config", [pool(), range("172.30.0.0/16", { range: "172.30.5.0/24" }), pool(fixed)]],
    ["ipam.config", [aux("172.30.0.9"), {}, pool()]],
    ["ipam.config", [pool(), range("172.30.0.0/16", { others: { h: "172.30.0.9" } }), {
      ...aux("172.30.0.9"),
    }]],
    ["ipam.config", [six("fd07:2::/64"), range("fd07:1::/64"), six("fd07:1::/64")]],
    ["ipam.config", [{}, range("fd07:1::/64"), six("FD07:1:0::/64")]],
  ];
  for (const [changed, parts] of back) {
    it(`finds what a commit took back or changed: ${changed} (${JSON.stringify(parts)})`, () => {
      assert.deepEqual(changes(...parts), [["inner", "shop_inner", "1", changed]]);
    });
  }

  for (const [changed, parts] of other) {
    it(`finds another ${changed} (${JSON.stringify(parts[0])})`, () => {
      assert.deepEqual(changes(...parts), [["inner", "shop_inner", "1", changed]]);
    });
  }
});
