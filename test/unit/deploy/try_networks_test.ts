import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { tryNetworks } from "../../../src/deploy/try_networks.ts";
import { errors, isStackwrightError } from "../../../src/model/mod.ts";
import { systemClock } from "../../../src/system/mod.ts";
import { createMemoryEngine } from "../../fakes/memory_engine.ts";

const ID = `0123456789ab${"0".repeat(52)}`;
const CHANGED = { key: "inner", name: "shop_inner", id: ID, changed: ["internal"] };
const ASIDE = "0123456789ab_shop_inner";
const POOL = { subnet: "10.9.0.0/24" };

const TAKEN = "400 Pool overlaps with other one on this address space";

/** What is made for a definition on an engine that answers so, in order. */
async function triesOf(definition: Record<string, unknown>, ...refusals: (string | undefined)[]) {
  return await triesBeside({}, definition, ...refusals);
}

/** As {@link triesOf}, where the old network or another one has some addresses. */
async function triesBeside(
  { old, other, driver = "bridge" }: {
    readonly old?: string;
    readonly other?: string;
    readonly driver?: string;
  },
  definition: Record<string, unknown>,
  ...refusals: (string | undefined)[]
) {
  const engine = createMemoryEngine([]);
  const bridge = "com.docker.network.bridge.name";
  const network = (subnet?: string) => ({ pools: subnet === undefined ? [] : [{ subnet }] });
  const inner = { id: ID, name: "shop_inner", driver: "bridge", options: { [bridge]: "br9" } };
  engine.networks = [
    { ...inner, labels: {}, network: network(old) },
    { id: "2", name: "others", driver, labels: {}, network: network(other) },
  ] as unknown as typeof engine.networks;
  const made: Record<string, unknown>[] = [];
  engine.makeNetwork = (body) => {
    made.push({ ...body });
    const refusal = refusals.shift();
    return refusal === undefined
      ? Promise.resolve()
      : Promise.reject(errors.engine_refused(refusal));
  };
  const model = { name: "shop", networks: { inner: { name: "shop_inner", ...definition } } };
  const parts = { engine, clock: systemClock };
  let message = "";
  try {
    await tryNetworks(parts, [CHANGED], model, new AbortController().signal);
  } catch (error) {
    assert.ok(isStackwrightError(error, "deploy_failed"));
    message = error.message;
  }
  return { made, message, calls: engine.calls };
}

describe("tryNetworks()", () => {
  it("makes the network beside the old one, and removes it", async () => {
    const { made, message, calls } = await triesOf({ internal: true, ipam: { config: [POOL] } });
    assert.equal(message, "");
    assert.deepEqual(made.map(({ Name, Internal }) => [Name, Internal]), [[ASIDE, true]]);
    assert.deepEqual(made[0]?.["IPAM"], { Config: [{ Subnet: POOL.subnet }] });
    assert.deepEqual(calls, [`remove network ${ASIDE}`]);
  });

  it("says what the engine refuses, and what is so now", async () => {
    const { message } = await triesOf({}, "400 failed to parse");
    assert.match(message, /^networks.inner: network shop_inner cannot .* left as it is.*: 400 fai/);
  });

  it("leaves out the addresses and the interface that the old one has", async () => {
    const driver_opts = { "com.docker.network.bridge.name": "br9", other: "1" };
    const definition = { driver_opts, enable_ipv6: true, ipam: { config: [POOL] } };
    const { made, message } = await triesOf(definition, "Pool overlaps with other one", "bad");
    assert.deepEqual(made.map(({ IPAM }) => IPAM === undefined), [false, true]);
    assert.deepEqual(made.map(({ Options }) => Options), [{ other: "1" }, { other: "1" }]);
    assert.equal(made[1]?.["EnableIPv6"], undefined);
    assert.match(message, /: bad$/);
  });

  for (const other of ["10.9.0.0/24", "10.8.0.0/15", "10.9.0.128/25"]) {
    it(`refuses addresses that a network has which stays: ${other}`, async () => {
      const definition = { ipam: { config: [POOL] } };
      const { made, message } = await triesBeside({ other }, definition, TAKEN);
      const said = `: 10.9.0.0/24 overlaps with ${other} of network others`;
      assert.ok(message.endsWith(said), message);
      assert.equal(made.length, 1);
    });
  }

  it("refuses none that the old one has, or a swarm's, or that are near", async () => {
    const definition = { ipam: { config: [POOL] } };
    const overlay = { other: "10.9.0.0/24", driver: "overlay" };
    for (const beside of [{ old: "10.9.0.0/16" }, overlay, { other: "10.9.1.0/24" }]) {
      const { made, message } = await triesBeside(beside, definition, TAKEN);
      assert.deepEqual([made.length, message], [2, ""]);
    }
  });

  it("says nothing where the engine has no addresses to spare, or the driver is another", async () => {
    const none = "could not find an available, non-overlapping IPv4 address pool";
    assert.equal((await triesOf({}, none, none)).message, "");
    assert.deepEqual((await triesOf({ driver: "macvlan" })).made, []);
  });
});
