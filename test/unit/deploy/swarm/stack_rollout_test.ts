import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { rolloutStack } from "../../../../src/deploy/swarm/stack_rollout.ts";
import type { StackRolloutParts } from "../../../../src/deploy/swarm/stack_words.ts";
import type { ComposeModel, Release, ServicePlan } from "../../../../src/model/mod.ts";
import { StackwrightError } from "../../../../src/model/mod.ts";
import { createMemorySwarm } from "../../../fakes/memory_swarm.ts";
import { createRecordingLog } from "../../../fakes/recording_log.ts";
import { releaseOf, serviceOf } from "../releases.ts";

const SIGNAL = new AbortController().signal;
const NAMES = ["api", "web"];

const plan = (name: string, action: "keep" | "recreate"): ServicePlan => ({
  ...{ name, action, because: ["so it is"] },
});

function onDisk(id: string, timeoutSeconds: number, model: ComposeModel = {}) {
  const services = NAMES.map((name) => serviceOf(name, { digest: `${name}-${id}` }));
  return {
    tree: `/trees/${id}`,
    release: withModel(releaseOf(id, services, { swarm: {}, timeoutSeconds }), model),
    images: {},
  };
}

/** A release with what `model` adds to its own. */
function withModel(release: Release, model: ComposeModel): Release {
  return { ...release, model: { ...release.model, ...model } };
}

/** A stack of two services that is updated, on a clock on which every wait is over at once. */
function createWorld() {
  const engine = createMemorySwarm(NAMES.map((service) => ({ stack: "shop", service })));
  let seconds = 0;
  const world = {
    ...{ engine, onSecond: (_seconds: number) => {}, replanned: 0, model: {} },
    onAsk: (_volumes: readonly string[], _networks: readonly string[]) => {},
  };
  const parts: StackRolloutParts = {
    engine,
    swarm: {
      contents: {} as StackRolloutParts["swarm"]["contents"],
      digest: () => "0",
      auth: () => Promise.resolve(""),
      stackDirectory: () => "/s",
      handedOver: new Set<string>(),
      retention: { configs: -1, secrets: -1 },
    },
    clock: {
      now: () => new Date(seconds * 1000),
      uptime: () => seconds * 1000,
      sleep(milliseconds) {
        world.onSecond(seconds += milliseconds / 1000);
        return Promise.resolve();
      },
    },
    log: createRecordingLog(),
    files: { switchTo: () => Promise.resolve() },
    progress: () => {},
    requireOwn: async ({ model }) => {
      const keys = (kind: string) => Object.keys(model[kind] ?? {});
      await world.onAsk(keys("volumes"), keys("networks"));
    },
    requireAllowed: () => Promise.resolve(),
    replan: (_release, _observed, _failed) => {
      world.replanned++;
      return [plan("api", "keep"), plan("web", "recreate")];
    },
  };
  const roll = (previousSeconds: number, nextSeconds: number) =>
    rolloutStack(parts, {
      next: onDisk("next", nextSeconds, world.model),
      previous: onDisk("old", previousSeconds),
      services: NAMES.map((name) => plan(name, "recreate")),
      liveNow: { files: {}, directories: [] },
      timeoutSeconds: nextSeconds,
      rollback: true,
    }, SIGNAL);
  return Object.assign(world, { roll });
}

describe("rolloutStack()", () => {
  it("goes on with the rest, planned anew, where an engine that went away cut it off", async () => {
    const world = createWorld();
    world.engine.onCall = (call) => {
      if (call !== "update shop_web") return;
      world.engine.onCall = () => {};
      throw new StackwrightError("engine_unreachable", "it is away");
    };
    const result = await world.roll(10, 10);
    assert.equal(result.kind, "deployed");
    assert.equal(world.replanned, 1);
    // What was posted before it went away is not posted again.
    assert.deepEqual(world.engine.calls, ["update shop_api", "update shop_web"]);
  });

  it("asks whose a service's volumes are right before it is posted", async () => {
    const world = createWorld();
    const mounting = (source: string) => ({
      image: "a",
      volumes: [{ type: "volume", source, target: "/d" }],
    });
    world.model = {
      services: { api: mounting("cache"), web: mounting("data") },
      volumes: { cache: { name: "cache" }, data: { name: "data" } },
    };
    const asked: string[] = [];
    world.onAsk = (volumes) => {
      asked.push(`${volumes} after ${world.engine.calls.length}`);
      if (`${volumes}` === "data") throw new StackwrightError("conflict", "wiki has it by now");
    };
    const result = await world.roll(10, 10);
    assert.equal(result.kind, "rolled_back");
    assert.deepEqual(asked.slice(0, 3), ["cache,data after 0", "cache after 0", "data after 1"]);
    assert.equal(world.engine.calls[0], "update shop_api");
  });

  it("asks whose a network is before the first service that joins it", async () => {
    const world = createWorld();
    const joining = (...keys: string[]) => ({
      image: "a",
      networks: Object.fromEntries(keys.map((key) => [key, null])),
    });
    world.model = {
      services: { api: joining("default"), web: joining("default", "back") },
      networks: { default: { name: "shop_default" }, back: { name: "shop_back" } },
    };
    const asked: string[] = [];
    world.onAsk = (_volumes, networks) => void asked.push(`${networks}`);
    world.engine.makeNetwork = () => Promise.resolve();
    await world.roll(10, 10);
    assert.deepEqual(asked, ["default,back", "default", "back"]);
  });

  it("asks no more for volumes that a service of the stack has: others leave them alone", async () => {
    const world = createWorld();
    const mounting = (...sources: string[]) => ({
      image: "a",
      volumes: sources.map((source) => ({ type: "volume", source, target: `/${source}` })),
    });
    world.model = {
      services: { api: mounting("cache"), web: mounting("cache", "data") },
      volumes: { cache: { name: "cache" }, data: { name: "data" } },
    };
    const asked: string[] = [];
    world.onAsk = (volumes) => void asked.push(`${volumes}`);
    await world.roll(10, 10);
    await world.roll(10, 10);
    assert.deepEqual(asked, ["cache,data", "cache", "data", "cache,data", "", ""]);
  });

  it("reads the services of the stack once for all that it posts", async () => {
    const world = createWorld();
    let lists = 0;
    const { swarm } = world.engine;
    const { services, updateService } = swarm;
    let isPosting = true;
    Object.assign(swarm, {
      services: (...asks: Parameters<typeof services>) => {
        if (isPosting && asks[0]["com.docker.stack.namespace"] !== undefined) lists++;
        return services(...asks);
      },
      updateService: async (...asks: Parameters<typeof updateService>) => {
        await updateService(...asks);
        isPosting = world.engine.calls.length < NAMES.length;
      },
    });
    await world.roll(10, 10);
    assert.equal(lists, 1);
  });

  for (const [previous, next] of [[100, 10], [10, 100]] as const) {
    it(`gives the release before the longer time of ${previous} and ${next} seconds`, async () => {
      const world = createWorld();
      world.engine.states.set("shop_web", { State: "starting" });
      let back = Infinity;
      world.onSecond = (now) => {
        if (world.replanned === 0) return;
        back = Math.min(back, now);
        if (now - back > 50) world.engine.states.delete("shop_web");
      };
      const result = await world.roll(previous, next);
      assert.equal(result.kind, "rolled_back", JSON.stringify(result));
    });
  }
});
