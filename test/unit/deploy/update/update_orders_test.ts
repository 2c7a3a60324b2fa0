import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { findUpdates } from "../../../../src/deploy/update/update_orders.ts";

describe("findUpdates()", () => {
  const find = (replicas: number, update_config: Record<string, unknown>) => {
    const web = { image: "a", deploy: { replicas, update_config }, networks: { default: null } };
    return findUpdates(
      { imageVolumes: () => Promise.resolve([]), listImages: () => Promise.resolve([]) },
      {
        release: { model: { name: "shop", services: { web } }, services: [] },
        services: [{ name: "web", action: "recreate", because: [] }],
        observed: { containers: [] },
      },
      new AbortController().signal,
    );
  };

  it("takes pauses of a day altogether", async () => {
    for (const [replicas, delay] of [[2, "24h0m0s"], [25, "1h0m0s"], [1, "9999h0m0s"]] as const) {
      assert.ok((await find(replicas, { parallelism: 1, delay })).has("web"));
    }
    assert.ok((await find(100, { parallelism: 0, delay: "9999h0m0s" })).has("web"));
  });

  it("refuses longer ones, in which nothing else would have its turn", async () => {
    for (const [replicas, delay] of [[2, "24h0m1s"], [1000, "2m0s"]] as const) {
      await assert.rejects(find(replicas, { parallelism: 1, delay }), {
        code: "config_invalid",
        message:
          /^service web: \d+ pauses as long as deploy\.update_config\.delay take more than a day/,
      });
    }
  });
});
