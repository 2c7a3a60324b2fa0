import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { addressKeepers, rejoin } from "../../../../src/deploy/engine/gate.ts";
import type { ResourceSummary } from "../../../../src/docker/engine.ts";
import { LABELS, StackwrightError } from "../../../../src/model/mod.ts";
import { createMemoryEngine } from "../../../fakes/memory_engine.ts";

const never = new AbortController().signal;

function network(gateway: string, more: Partial<ResourceSummary> = {}): ResourceSummary {
  const pools = [{ subnet: "10.1.0.0/24", gateway, range: "" }];
  return {
    ...{ id: "n", name: "net", driver: "bridge", labels: {} },
    network: { internal: false, attachable: false, ipv6: false, pools },
    ...more,
  };
}

describe("addressKeepers()", () => {
  const model = (network: Readonly<Record<string, unknown>>) => ({
    networks: { default: network },
  });
  const ranged = { name: "net", ipam: { config: [{ subnet: "10.1.0.0/24" }] } };
  const rows: readonly (readonly [string, ResourceSummary, object, string, boolean])[] = [
    ["whose range the engine chose", network("10.1.0.1"), {}, "1.45", false],
    ["whose range somebody chose", network(""), {}, "1.45", true],
    ["whose range the model names", network("10.1.0.1"), model(ranged), "1.45", true],
    [
      "of somebody else, whatever a model says",
      network("10.1.0.1"),
      model({ ...ranged, external: true }),
      "1.45",
      false,
    ],
    [
      "that we made with a range",
      network("10.1.0.1", { labels: { [LABELS.keepsAddresses]: "true" } }),
      {},
      "1.51",
      true,
    ],
    ["of an engine that may refuse", network("10.1.0.1"), {}, "1.52", false],
    ["of an engine that gives any address", network("10.1.0.1"), {}, "1.53", true],
    ["that is no bridge", network("", { driver: "macvlan" }), {}, "1.53", false],
  ];
  for (const [what, one, given, api, keeps] of rows) {
    it(`${keeps ? "has" : "leaves out"} a network ${what}`, () => {
      assert.deepEqual([...addressKeepers([one], given as never, api)], keeps ? ["net"] : []);
    });
  }
});

describe("rejoin()", () => {
  const now = { ipv4: "10.1.0.5", ipv6: "", aliases: [] };
  const place = { network: "net", container: "c", now, endpoint: { Aliases: ["web"] } };

  it("comes back with its address and other names", async () => {
    const engine = createMemoryEngine();
    await rejoin(engine, place, never);
    assert.deepEqual(engine.calls, ["disconnect c from net", "connect c to net as 10.1.0.5 web"]);
  });

  it("takes another address where the engine refuses that one", async () => {
    const engine = createMemoryEngine();
    engine.onCall = (text) => {
      if (text.includes("10.1.0.5")) throw new StackwrightError("engine_refused", "no");
    };
    await rejoin(engine, place, never);
    assert.deepEqual(engine.calls, ["disconnect c from net", "connect c to net as web"]);
  });
});
