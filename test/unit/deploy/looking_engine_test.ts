import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { lookingEngine } from "../../../src/deploy/mod.ts";
import type { ContainerWish } from "../../../src/docker/create_bodies.ts";
import type { EngineClient, ServiceChange } from "../../../src/docker/mod.ts";

const never = new AbortController().signal;
const refused = new Error("it leads out");

/** An engine whose container and service mount `/live/x`; `leadsOut` is where that leads. */
function createLooked(leadsOut: boolean, isHere = true) {
  const calls: string[] = [];
  const note = (call: string) => () => Promise.resolve(void calls.push(call));
  const mounts = [{ kind: "bind", name: "", source: "/live/x" }];
  const container = { name: "shop-web-1", labels: {} };
  const plain = {
    inspectContainer: () => Promise.resolve({ container, mounts, host: {} }),
    createContainer: note("create again"),
    makeContainer: note("make"),
    startContainer: note("start"),
    restartContainer: note("restart"),
    stopContainer: note("stop"),
    unpackInto: note("unpack"),
    swarm: { createService: note("create"), updateService: note("update") },
  } as unknown as EngineClient;
  const engine = lookingEngine(plain, {
    applies: () => Promise.resolve(isHere),
    requireAllowed({ what, mounts }) {
      calls.push(`look at ${mounts.map(({ name, source }) => name || source).join()} of ${what}`);
      return leadsOut ? Promise.reject(refused) : Promise.resolve();
    },
  });
  return { engine, calls };
}

const Mounts = [{ Type: "bind", Source: "/live/x", Target: "/x" }];
const service = (Mode: object, Constraints: readonly string[] = []): ServiceChange => ({
  body: {
    Name: "shop_web",
    Mode,
    TaskTemplate: { ContainerSpec: { Mounts }, Placement: { Constraints } },
  } as unknown as ServiceChange["body"],
  auth: "",
});
const WISH = {
  name: "shop-web-1",
  platform: "",
  connect: {},
  body: {
    HostConfig: {
      Binds: ["/live/x:/x:ro", "data:/data"],
      Mounts: [{ Type: "bind", Source: "/c", Target: "/c" }],
    },
  },
} as unknown as ContainerWish;
const NOW = { id: "s", version: 1 };

describe("lookingEngine()", () => {
  const acts: Readonly<Record<string, (engine: EngineClient) => Promise<unknown>>> = {
    start: (engine) => engine.startContainer("c", never),
    restart: (engine) => engine.restartContainer("c", {}, never),
    "create again": (engine) =>
      engine.createContainer({ ...WISH, id: "", runs: true } as never, never),
    make: (engine) => engine.makeContainer(WISH, never),
    unpack: (engine) => engine.unpackInto("c", new Uint8Array(), never),
    create: (engine) => engine.swarm.createService(service({ Global: {} }), never),
    update: (engine) =>
      engine.swarm.updateService(NOW, service({ Replicated: { Replicas: 2 } }), never),
  };
  for (const [name, act] of Object.entries(acts)) {
    it(`looks before it does this: ${name}`, async () => {
      const inside = createLooked(false);
      await act(inside.engine);
      const what = ["create", "update"].includes(name)
        ? "service shop_web"
        : "container shop-web-1";
      const mounts = ["create again", "make"].includes(name) ? "/live/x,data,/c" : "/live/x";
      assert.deepEqual(inside.calls, [`look at ${mounts} of ${what}`, name]);
      const elsewhere = createLooked(true, false);
      await act(elsewhere.engine);
      assert.deepEqual(elsewhere.calls, [name]);
      const outside = createLooked(true);
      await assert.rejects(act(outside.engine), refused);
      assert.deepEqual(outside.calls, [`look at ${mounts} of ${what}`]);
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
