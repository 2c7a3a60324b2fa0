import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createEngineBackend, type FailedUpdate } from "../../../../src/deploy/mod.ts";
import { updateOf } from "../../../../src/deploy/update/update_config.ts";
import {
  COMPOSE_LABELS,
  isStackwrightError,
  type ObservedContainer,
} from "../../../../src/model/mod.ts";
import type { Clock } from "../../../../src/system/mod.ts";
import { createMemoryEngine, runningContainer } from "../../../fakes/memory_engine.ts";
import { createRecordingLog } from "../../../fakes/recording_log.ts";

type Part = Readonly<Record<string, unknown>>;
const never = new AbortController().signal;
const key = { context: "default", name: "shop" };
const NETWORKS = {
  default: { name: "shop_default", ipam: { config: [{ subnet: "10.1.0.0/24" }] } },
};

/** Replaces services whose containers become what `outcome` says for their number; healthy else. */
function createWorld(services: Readonly<Record<string, Part>>) {
  const engine = createMemoryEngine();
  engine.images["app:1"] = "sha256:app";
  engine.networks = [{ id: "n", name: "shop_default", driver: "bridge", labels: {} }];
  const outcome: Record<string, Partial<ObservedContainer>> = {};
  const sleeps: number[] = [];
  let now = 0;
  const clock: Clock = {
    now: () => new Date(now),
    uptime: () => now,
    sleep: (milliseconds, signal) => {
      // What waits for the end of the deployment waits for ever here.
      if (milliseconds >= 30_000) {
        return new Promise((_, reject) =>
          signal?.addEventListener("abort", () => reject(signal.reason), { once: true })
        );
      }
      sleeps.push(milliseconds);
      now += milliseconds;
      return Promise.resolve();
    },
  };
  for (const [name, part] of Object.entries(services)) {
    const { replicas = 1 } = (part["deploy"] ?? {}) as { replicas?: number };
    for (let number = 1; number <= replicas; number++) {
      engine.containers.push(runningContainer("shop", name, {
        id: `${name}${number}`.padEnd(12, "0"),
        name: `shop-${name}-${number}`,
        networkNames: ["shop_default"],
        labels: { [COMPOSE_LABELS.number]: String(number) },
      }));
    }
  }
  // An engine that does what it is told.
  engine.onCall = (text) => {
    const [verb = "", id = "", name = ""] = text.split(" ");
    const at = engine.containers.findIndex((each) => each.id === id);
    const found = engine.containers[at];
    if (verb === "make") {
      const service = /_shop-(\w+)-/.exec(id)?.[1] ?? "";
      const waiting = { id: `${id}-id`, name: id, state: "created" as const };
      engine.containers.push(runningContainer("shop", service, waiting));
    }
    if (found === undefined) return;
    const number = found.name.split("-").at(-1) ?? "";
    if (verb === "start") {
      const then = { state: "running" as const, health: "healthy" as const, ...outcome[number] };
      engine.containers[at] = { ...found, ...then };
    }
    if (verb === "stop") engine.containers[at] = { ...found, state: "exited", exitCode: 0 };
    if (verb === "rename") engine.containers[at] = { ...found, name };
  };
  const failed: FailedUpdate[] = [];
  const backend = createEngineBackend({
    ...{ engine, clock, quiet: true, log: createRecordingLog() },
    compose: { up: () => Promise.resolve(), knownVersion: () => Promise.resolve("5.5.0") },
    variables: () => Promise.resolve({}),
  });
  const roll = (watchMs = 0) => {
    const model = { name: "shop", services, networks: NETWORKS };
    const names = Object.keys(services);
    return backend.up({
      key,
      call: {
        project: { name: "shop", directory: "/d", files: ["-"], envFiles: [], profiles: [] },
        variables: {},
        model,
      },
      mode: "roll",
      updates: new Map(names.flatMap((name) => {
        const update = updateOf(model, name);
        return update === undefined ? [] : [[name, update] as const];
      })),
      scale: Object.fromEntries(names.map((name) => {
        const deploy = (services[name]?.["deploy"] ?? {}) as { replicas?: number };
        return [name, deploy.replicas ?? 1];
      })),
      noStart: false,
      timeoutMs: 60_000,
      progress: () => {},
      watchMs: () => watchMs,
      failed: (failure) => void failed.push(failure),
      onEnding: () => void engine.calls.push("start nothing more"),
    }, never);
  };
  return { engine, outcome, sleeps, failed, roll };
}

const web = (update: Part, deploy: Part = {}) => ({
  image: "app:1",
  networks: { default: null },
  deploy: { ...deploy, update_config: update },
});
/** Calls in short: `start 1` for the new one of number 1, `stop old 1` for the old one. */
const short = (calls: readonly string[]) =>
  calls.filter((each) => /^(?:start|stop|remove) (?!nothing)/.test(each)).map((each) =>
    each.replace(/^(\w+) \w+_shop-(\w+)-(\d+)-id$/, "$1 $2$3").replace(
      /^(\w+) (\w+?\d)0+$/,
      "$1 old $2",
    )
  );

describe("services that are replaced by rules", () => {
  it("start-first: one after the other, the old one stopped when the new one is found", async () => {
    const world = createWorld({ web: web({ order: "start-first" }) });
    await world.roll();
    assert.deepEqual(world.engine.calls, [
      "make web100000000_shop-web-1",
      "start web100000000_shop-web-1-id",
      "start nothing more",
      "disconnect web100000000_shop-web-1-id from shop_default",
      "connect web100000000_shop-web-1-id to shop_default as shop-web-1 web",
      "rename web100000000 web100000000_shop-web-1",
      "rename web100000000_shop-web-1-id shop-web-1",
      "disconnect web100000000 from shop_default",
      "connect web100000000 to shop_default",
      "stop web100000000",
      "remove web100000000",
    ]);
  });

  it("as many at once as parallelism says, with delay between", async () => {
    const rules = { order: "start-first", parallelism: 2, delay: "7s" };
    const world = createWorld({ web: web(rules, { replicas: 3 }) });
    await world.roll();
    assert.deepEqual(short(world.engine.calls), [
      "start web1",
      "start web2",
      "stop old web1",
      "remove old web1",
      "stop old web2",
      "remove old web2",
      "start web3",
      "stop old web3",
      "remove old web3",
    ]);
    assert.equal(world.sleeps.filter((each) => each === 7000).length, 1);
  });

  it("stop-first: likewise, and the next only when the one before works", async () => {
    const world = createWorld({ web: web({ parallelism: 1 }, { replicas: 2 }) });
    await world.roll();
    assert.deepEqual(short(world.engine.calls), [
      "stop old web1",
      "remove old web1",
      "start web1",
      "stop old web2",
      "remove old web2",
      "start web2",
    ]);
  });

  it("without a health check when it ran for the watch period", async () => {
    const world = createWorld({ web: web({ order: "start-first" }) });
    world.outcome["1"] = { health: "none" };
    await world.roll(9000);
    assert.equal(world.sleeps.reduce((sum, each) => sum + each, 0) >= 9000, true);
  });

  it("start-first: removes what does not work, and leaves the old one", async () => {
    const world = createWorld({ web: web({ order: "start-first", failure_action: "pause" }) });
    world.outcome["1"] = { state: "exited", exitCode: 1 };
    await assert.rejects(world.roll(), (error) => isStackwrightError(error, "unhealthy"));
    assert.deepEqual(short(world.engine.calls), ["start web1", "stop web1", "remove web1"]);
    assert.deepEqual(world.engine.containers.map((each) => [each.name, each.state]), [
      ["shop-web-1", "running"],
    ]);
    assert.deepEqual(world.failed.map(({ service, action }) => [service, action]), [
      ["web", "pause"],
    ]);
  });

  it("start-first: lets one that may end do so where the old one has ended, too", async () => {
    const world = createWorld({ web: web({ order: "start-first" }) });
    world.outcome["1"] = { state: "exited", exitCode: 0, health: "none" };
    await assert.rejects(world.roll(), /stopped with exit code 0/);
    const ended = world.engine.containers.map((each) => ({ ...each, state: "exited" as const }));
    world.engine.containers = ended.map((each) => ({ ...each, exitCode: 0 }));
    await world.roll();
    assert.deepEqual(world.engine.containers.map(({ name }) => name), ["shop-web-1"]);
  });

  it("goes on with the rest where failure_action is continue", async () => {
    const rules = { order: "start-first", failure_action: "continue" };
    const world = createWorld({ web: web(rules, { replicas: 2 }) });
    world.outcome["1"] = { health: "unhealthy" };
    await world.roll();
    assert.deepEqual(short(world.engine.calls), [
      "start web1",
      "stop web1",
      "remove web1",
      "start web2",
      "stop old web2",
      "remove old web2",
    ]);
    assert.equal(world.failed.length, 1);
  });

  it("side by side, but for what depends on another: that comes after it", async () => {
    const rules = web({ order: "start-first" });
    const depends_on = { api: { condition: "service_healthy" } };
    const world = createWorld({ api: rules, db: rules, web: { ...rules, depends_on } });
    await world.roll();
    const order = short(world.engine.calls);
    const at = (call: string) => order.indexOf(call);
    assert.equal(at("start db1") < at("stop old api1"), true, String(order));
    assert.equal(at("start api1") < at("stop old db1"), true, String(order));
    assert.equal(at("remove old api1") < at("start web1"), true, String(order));
    assert.equal(at("remove old web1") > at("start web1"), true, String(order));
  });

  it("says when nothing is started any more, of all services together", async () => {
    const rules = { order: "start-first" };
    const world = createWorld({ api: web(rules, { replicas: 2 }), web: web({ parallelism: 2 }) });
    await world.roll();
    const said = world.engine.calls.indexOf("start nothing more");
    assert.equal(world.engine.calls.lastIndexOf("start nothing more"), said);
    assert.deepEqual(world.engine.calls.slice(said + 1).filter((each) => /^start/.test(each)), []);
    assert.equal(world.engine.calls.slice(said).some((each) => /^stop api2/.test(each)), true);
  });

  it("does not say so where it does not work, or something is started in the end", async () => {
    const failing = createWorld({ web: web({ order: "start-first" }) });
    failing.outcome["1"] = { health: "unhealthy" };
    await assert.rejects(failing.roll());
    const growing = createWorld({ web: web({ order: "start-first" }, { replicas: 2 }) });
    growing.engine.containers.pop();
    await growing.roll();
    for (const { engine: { calls } } of [failing, growing]) {
      assert.equal(calls.includes("start nothing more"), false);
    }
  });

  it("takes the old one out of a network that the new one leaves, and reads no list of all", async () => {
    const world = createWorld({ web: web({ order: "start-first" }) });
    const { engine } = world;
    engine.networks.push({
      ...{ id: "o", name: "outside", driver: "bridge" },
      labels: { "stackwright.network.keeps_addresses": "true" },
    });
    engine.containers = engine.containers.map((each) => ({
      ...each,
      networkNames: ["shop_default", "outside"],
    }));
    engine.listNetworks = () => Promise.reject(new Error("a list of all networks"));
    const { inspectContainer } = engine;
    engine.inspectContainer = async (id, signal) => {
      const details = await inspectContainer(id, signal);
      return details &&
        { ...details, endpoints: { outside: { ipv4: "10.1.0.2", ipv6: "", aliases: [] } } };
    };
    await world.roll();
    const taken = engine.calls.filter((each) => /connect .* (?:from|to) outside/.test(each));
    assert.deepEqual(taken.map((each) => each.split(" ")[0]), ["disconnect", "connect"]);
  });

  it("makes nobody findable in a network that gives addresses only once", async () => {
    const world = createWorld({ web: web({ order: "start-first" }) });
    world.engine.networks = [{
      ...{ id: "n", name: "shop_default", driver: "macvlan", labels: {} },
    }];
    await world.roll();
    assert.deepEqual(world.engine.calls.filter((each) => /connect/.test(each)), []);
    assert.deepEqual(short(world.engine.calls), [
      "start web1",
      "stop old web1",
      "remove old web1",
    ]);
  });
});
