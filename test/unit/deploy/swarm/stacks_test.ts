import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Stacks } from "../../../../src/deploy/mod.ts";
import { stackKey } from "../../../../src/model/mod.ts";
import { lockParts } from "../../../fakes/lock_parts.ts";
import { createFakeClock, settle } from "../../../fakes/fake_clock.ts";
import { createMemorySwarm } from "../../../fakes/memory_swarm.ts";

const SHOP = stackKey("", "shop");

describe("Stacks.control()", () => {
  it("goes on to the last service without its client, once it has begun", async () => {
    const engine = createMemorySwarm(
      ["db", "web"].map((service) => ({ stack: "shop", service })),
    );
    const [client, begun, go] = [
      new AbortController(),
      Promise.withResolvers<void>(),
      Promise.withResolvers<void>(),
    ];
    const swarm: typeof engine.swarm = {
      ...engine.swarm,
      async updateService(service, change, signal) {
        begun.resolve();
        await go.promise;
        signal.throwIfAborted();
        return await engine.swarm.updateService(service, change, signal);
      },
    };
    const stacks = new Stacks({
      engine: { ...engine, swarm },
      ...lockParts(createFakeClock()),
      isManager: () => Promise.resolve(true),
      destroyRecorded: () => Promise.resolve(false),
    });
    const asked = { order: { action: "restart" }, wait: true, timeoutSeconds: 5 } as const;
    const end = stacks.control(SHOP, asked, client.signal);
    await begun.promise;
    client.abort();
    await settle();
    go.resolve();
    assert.deepEqual(await end, [{ service: "shop_db" }, { service: "shop_web" }]);
    await assert.rejects(stacks.control(SHOP, asked, client.signal), { name: "AbortError" });
  });
});
