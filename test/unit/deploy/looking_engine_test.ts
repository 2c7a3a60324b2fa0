import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { lookingEngine } from "../../../src/deploy/mod.ts";
import type { EngineClient, ServiceChange } from "../../../src/docker/mod.ts";

const never = new AbortController().signal;
const refused = new Error("it leads out");

/** An engine whose container and service mount `/live/x`; `leadsOut` is where that leads. */
function createLooked(leadsOut: boolean) {
  const calls: string[] = [];
  const note = (call: string) => () => Promise.resolve(void calls.push(call));
  const mounts = [{ kind: "bind", name: "", source: "/live/x" }];
  const plain = {
    inspectContainer: () => Promise.resolve({ mounts }),
    startContainer: note("start"),
    restartContainer: note("restart"),
    stopContainer: note("stop"),
    unpackInto: note("unpack"),
    swarm: { createService: note("create"), updateService: note("update") },
  } as unknown as EngineClient;
  const engine = lookingEngine(plain, (seen) => {
    calls.push(`look at ${seen.map(({ source }) => source).join()}`);
    return leadsOut ? Promise.reject(refused) : Promise.resolve();
  });
  return { engine, calls };
}

const Mounts = [{ Type: "bind", Source: "/live/x", Target: "/x" }];
const service = (Mode: object, Constraints: readonly string[] = []): ServiceChange => ({
  body: {
    Mode,
    TaskTemplate: { ContainerSpec: { Mounts }, Placement: { Constraints } },
  } as unknown as ServiceChange["body"],
  auth: "",
});
const NOW = { id: "s", version: 1 };

describe("lookingEngine()", () => {
  const acts: Readonly<Record<string, (engine: EngineClient) => Promise<unknown>>> = {
    start: (engine) => engine.startContainer("c", never),
    restart: (engine) => engine.restartContainer("c", {}, never),
    unpack: (engine) => engine.unpackInto("c", new Uint8Array(), never),
    create: (engine) => engine.swarm.createService(service({ Global: {} }), never),
    update: (engine) =>
      engine.swarm.updateService(NOW, service({ Replicated: { Replicas: 2 } }), never),
  };
  for (const [name, act] of Object.entries(acts)) {
    it(`looks before it does this: ${name}`, async () => {
      const inside = createLooked(false);
      await act(inside.engine);
      assert.deepEqual(inside.calls, ["look at /live/x", name]);
      const outside = createLooked(true);
      await assert.rejects(act(outside.engine), refused);
      assert.deepEqual(outside.calls, ["look at /live/x"]);
    });
  }

  it("stops what it likes, services too", async () => {
    const { engine, calls } = createLooked(true);
    await engine.stopContainer("c", 0, never);
    for (
      const change of [
        service({ Replicated: { Replicas: 0 } }),
        service({ ReplicatedJob: { MaxConcurrent: 0, TotalCompletions: 0 } }),
        service({ GlobalJob: {} }, ["node.id==stackwright-nowhere"]),
      ]
    ) await engine.swarm.updateService(NOW, change, never);
    assert.deepEqual(calls, ["stop", "update", "update", "update"]);
  });
});
