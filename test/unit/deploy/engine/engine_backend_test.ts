import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type Changes, createEngineBackend } from "../../../../src/deploy/mod.ts";
import { isStackwrightError, StackwrightError } from "../../../../src/model/mod.ts";
import { systemClock } from "../../../../src/system/mod.ts";
import { createFakeClock } from "../../../fakes/fake_clock.ts";
import { createMemoryEngine, runningContainer } from "../../../fakes/memory_engine.ts";
import { createRecordingLog } from "../../../fakes/recording_log.ts";

const never = new AbortController().signal;
const key = { context: "default", name: "shop" };

function createWorld({ clock = systemClock, composeMs = 0 } = {}) {
  const engine = createMemoryEngine();
  engine.images["app:1"] = "sha256:app";
  const composed: Record<string, unknown>[] = [];
  const backend = createEngineBackend({
    engine,
    clock,
    quiet: true,
    log: createRecordingLog(),
    compose: {
      up: async (call, { scale, mode }, signal) => {
        composed.push({ model: call.model, scale, mode });
        if (composeMs > 0) await clock.sleep(composeMs, signal);
      },
      knownVersion: () => Promise.resolve("5.5.0"),
    },
    variables: () => Promise.resolve({}),
  });
  const up = (model: Record<string, unknown>, changes: Partial<Changes> = {}, signal = never) =>
    backend.up({
      key,
      call: {
        project: { name: "shop", directory: "/d", files: ["-"], envFiles: [], profiles: [] },
        variables: {},
        model: { name: "shop", ...model },
      },
      mode: "complete",
      scale: { web: 1 },
      noStart: true,
      timeoutMs: 60_000,
      progress: () => {},
      ...changes,
    }, signal);
  return { engine, composed, up };
}

const networks = { default: { name: "shop_default" } };
const web = { image: "app:1", networks: { default: null } };

describe("the engine's backend", () => {
  it("makes networks, volumes and containers, each that is missing once", async () => {
    const { engine, composed, up } = createWorld();
    const volumes = { data: { name: "shop_data" }, unused: { name: "shop_unused" } };
    const mount = { type: "volume", source: "data", target: "/data" };
    await up({ services: { web: { ...web, volumes: [mount] } }, networks, volumes }, {
      scale: { web: 2 },
    });
    assert.deepEqual(engine.calls, [
      "make network shop_default",
      "make volume shop_data",
      "make shop-web-2",
      "make shop-web-1",
    ]);
    assert.deepEqual(composed, []);
  });

  it("takes networks back when the engine has no addresses for all, and says who has them", async () => {
    const { engine, up } = createWorld();
    const has = (project: string, name: string) => ({
      ...{ id: `${name}-id`, name, driver: "bridge", options: {} },
      labels: { "com.docker.compose.project": project },
    });
    engine.networks.push(has("big", "big_a"), has("big", "big_b"), has("small", "small_a"));
    const { makeNetwork } = engine;
    engine.makeNetwork = async (body, signal) => {
      if (body.Name === "shop_b") {
        throw new StackwrightError(
          "engine_refused",
          "engine refused POST /networks/create: 400 all predefined address pools have been fully subnetted",
        );
      }
      return await makeNetwork.call(engine, body, signal);
    };
    const two = { a: { name: "shop_a" }, b: { name: "shop_b" } };
    const services = { web: { image: "app:1", networks: { a: null, b: null } } };
    await assert.rejects(up({ services, networks: two }), (error) => {
      assert.ok(isStackwrightError(error, "deploy_failed"));
      assert.match(error.message, /no range of addresses.*3 networks big has 2, small has 1/);
      return true;
    });
    assert.deepEqual(engine.calls, ["make network shop_a", "remove network shop_a"]);
  });

  it("takes networks back when time is up, the one under way as well", async () => {
    const { engine, up } = createWorld();
    const { makeNetwork, removeNetwork } = engine;
    const late = new Error("time is up");
    const end = new AbortController();
    engine.makeNetwork = async (body, signal) => {
      await makeNetwork.call(engine, body, signal);
      if (body.Name !== "shop_b") return;
      end.abort(late);
      throw late;
    };
    engine.removeNetwork = async (id, signal) => {
      signal.throwIfAborted();
      await removeNetwork.call(engine, id, signal);
    };
    const two = { a: { name: "shop_a" }, b: { name: "shop_b" } };
    const services = { web: { image: "app:1", networks: { a: null, b: null } } };
    await assert.rejects(up({ services, networks: two }, {}, end.signal), late);
    assert.deepEqual(
      engine.calls.filter((each) => each.startsWith("remove")),
      ["remove network shop_a", "remove network shop_b"],
    );
  });

  it("makes no container with a volume that another source's stack made a moment before", async () => {
    const refused = new Error("shared is another's");
    const requireAllowed = () => Promise.reject(refused);
    const mount = { type: "volume", source: "data", target: "/data" };
    const services = { web: { ...web, volumes: [mount] } };
    // Compose makes what has keys that are not known.
    for (const more of [{}, { "x-later": 1, later: 1 }]) {
      const { engine, composed, up } = createWorld();
      const model = { services, networks, volumes: { data: { name: "shared", ...more } } };
      await assert.rejects(up(model, { requireAllowed }), refused);
      assert.deepEqual(composed, []);
      assert.deepEqual(engine.calls.filter((each) => !/^make (network|volume) /.test(each)), []);
    }
  });

  it("touches what runs only when its successor is there, and takes its name last", async () => {
    const { engine, up } = createWorld();
    engine.containers.push(runningContainer("shop", "web", { id: "0123456789abcdef" }));
    await up({ services: { web }, networks }, { mode: "replace" });
    assert.deepEqual(engine.calls, [
      "make network shop_default",
      "make 0123456789ab_shop-web-1",
      "stop 0123456789abcdef",
      "remove 0123456789abcdef",
      "rename 0123456789ab_shop-web-1-id shop-web-1",
    ]);
  });

  it("starts what it made without a look, in the order of the numbers, while nothing serves", async () => {
    const { engine, up } = createWorld();
    engine.containers.push(runningContainer("shop", "web", { id: "0123456789abcdef" }));
    const { listContainers } = engine;
    engine.listContainers = (labels, signal) => {
      engine.calls.push("look");
      return listContainers.call(engine, labels, signal);
    };
    await up({ services: { web }, networks }, {
      mode: "replace",
      scale: { web: 2 },
      noStart: false,
    });
    assert.deepEqual(engine.calls, [
      "make network shop_default",
      "look",
      "make shop-web-2",
      "make 0123456789ab_shop-web-1",
      "stop 0123456789abcdef",
      "remove 0123456789abcdef",
      "rename 0123456789ab_shop-web-1-id shop-web-1",
      "start 0123456789ab_shop-web-1-id",
      "start shop-web-2-id",
    ]);
  });

  for (
    const [title, more, rest, because] of [
      ["a hook", { post_start: [{ command: ["true"] }] }, {}, "post_start of service web"],
      ["what our engine starts too", { gpus: [{ count: 1 }] }, {}, undefined],
      ["nothing", {}, {}, undefined],
    ] as const
  ) {
    it(`says before anything is made what compose is to start, for ${title}`, async () => {
      const { engine, composed, up } = createWorld();
      const refused = new Error("a mount in another one");
      const said: unknown[] = [];
      const requireAllowed: Changes["requireAllowed"] = (_signal, starts) => {
        said.push(starts);
        return Promise.reject(refused);
      };
      const model = { services: { web: { ...web, ...more } }, networks, ...rest };
      for (const noStart of [false, true]) {
        await assert.rejects(up(model, { requireAllowed, noStart }), refused);
      }
      const [starting, notStarting] = said as [Record<string, unknown> | undefined, unknown];
      assert.equal(notStarting, undefined);
      assert.deepEqual(starting?.["services"], because === undefined ? undefined : ["web"]);
      assert.ok(String(starting?.["because"]).startsWith(String(because)));
      assert.deepEqual(composed, []);
      assert.deepEqual(engine.calls.filter((each) => /^(?:make|start) shop-/.test(each)), []);
    });
  }

  it("has compose run a hook from the image that is judged right before, not from its name", async () => {
    const { engine, composed, up } = createWorld();
    engine.images["hook:1"] = "sha256:judged";
    const hooks = (image: string) => ({
      services: { web: { ...web, pre_start: [{ image, command: ["true"] }] } },
    });
    await up({ ...hooks("hook:1"), networks }, { noStart: false });
    const models = composed.map(({ model }) => model as ReturnType<typeof hooks>);
    assert.deepEqual(models.map(({ services }) => services.web.pre_start[0]?.image), [
      "hook:1",
      "sha256:judged",
    ]);
  });

  it("touches nothing when one of several successors cannot be made", async () => {
    const { engine, up } = createWorld();
    engine.containers.push(runningContainer("shop", "web"), runningContainer("shop", "db"));
    await assert.rejects(
      up({ services: { web, db: { ...web, image: "gone:1" } }, networks }, {
        mode: "replace",
        scale: { db: 1, web: 1 },
      }),
      (error) =>
        isStackwrightError(error, "deploy_failed") &&
        /service db: container shop-db-1 could not be made: image gone:1/.test(error.message),
    );
    assert.deepEqual(engine.calls.filter((each) => /^(?:stop|remove|rename)/.test(each)), []);
  });

  for (const number of ["-1", "0", "0.5", "-Infinity", "x"]) {
    it(`takes ${JSON.stringify(number)} for no number of a container: it sorts before none`, async () => {
      const { engine, up } = createWorld();
      for (const each of ["1", number]) {
        engine.containers.push(runningContainer("shop", "web", {
          id: `id${each}`,
          labels: { "com.docker.compose.container-number": each },
        }));
      }
      await up({ services: { web }, networks }, { mode: "replace" });
      assert.deepEqual(engine.calls.slice(1), [
        "make id1_shop-web-1",
        `stop id${number}`,
        `remove id${number}`,
        "stop id1",
        "remove id1",
        "rename id1_shop-web-1-id shop-web-1",
      ]);
    });
  }

  it("removes the highest numbers when there are to be fewer", async () => {
    const { engine, up } = createWorld();
    for (const number of ["1", "2", "3"]) {
      engine.containers.push(runningContainer("shop", "web", {
        id: `id-${number}`,
        name: `shop-web-${number}`,
        labels: { "com.docker.compose.container-number": number },
      }));
    }
    await up({ services: { web }, networks });
    assert.deepEqual(engine.calls.slice(1), [
      "stop id-2",
      "remove id-2",
      "stop id-3",
      "remove id-3",
    ]);
  });

  it("leaves services with a key that it does not know to compose, with all that exists", async () => {
    const { engine, composed, up } = createWorld();
    const services = { web: { ...web, gpus: [{ count: 1 }] } };
    await up({ services, networks });
    assert.deepEqual(engine.calls, ["make network shop_default"]);
    assert.deepEqual(composed, [{
      model: {
        name: "shop",
        services,
        networks: { default: { name: "shop_default", external: true } },
      },
      scale: { web: 1 },
      mode: "complete",
    }]);
  });

  it("leaves everything to compose where a network or volume has such a key", async () => {
    const { engine, composed, up } = createWorld();
    await up({ services: { web }, networks: { default: { name: "shop_default", new: 1 } } });
    assert.deepEqual(engine.calls, []);
    assert.equal(composed.length, 1);
  });

  it("says that what is there is external, where compose makes the networks and volumes: it makes them anew for a label", async () => {
    const { engine, composed, up } = createWorld();
    const strange = { ipam: { options: { foo: "bar" } }, labels: { v: "2" } };
    engine.networks = [{ id: "n1", name: "shop_default", driver: "bridge", labels: {} }];
    engine.volumes = [{ id: "shop_data", name: "shop_data", driver: "local", labels: {} }];
    await up({
      services: { web },
      networks: {
        default: { name: "shop_default", ...strange },
        other: { name: "shop_other", ...strange },
      },
      volumes: { data: { name: "shop_data", labels: { v: "2" } }, new: { name: "shop_new" } },
    });
    const { model } = composed[0] ?? {};
    assert.deepEqual(model, {
      name: "shop",
      services: { web },
      networks: {
        default: { name: "shop_default", external: true },
        other: { name: "shop_other", ...strange },
      },
      volumes: { data: { name: "shop_data", external: true }, new: { name: "shop_new" } },
    });
  });

  for (
    const [title, more] of [
      ["a service", { "x-other": 1 }],
      ["a network", { networks: { default: { name: "shop_default", new: 1 } } }],
    ] as const
  ) {
    it(`gives docker compose one time limit for all that it does for ${title}, and lists once`, async () => {
      const clock = createFakeClock();
      const { engine, composed, up } = createWorld({ clock, composeMs: 40_000 });
      const hooked = { ...web, gpus: [{ count: 1 }], post_start: [{ command: ["true"] }] };
      const lists: unknown[] = [];
      const { listContainers } = engine;
      engine.listContainers = (labels, signal) => {
        lists.push(labels);
        return listContainers.call(engine, labels, signal);
      };
      const model = { services: { web: hooked }, networks, ...more };
      const late = assert.rejects(up(model, { noStart: false, timeoutMs: 60_000 }), {
        code: "timeout",
        message: /containers of web were not made and started within the deployment's timeout/,
      });
      await clock.advance(60_000);
      assert.equal(composed.length, 2);
      assert.equal(lists.length, 1);
      await late;
      assert.equal(clock.sleepers, 0);
    });
  }

  it("makes nothing where an external network is missing", async () => {
    const { engine, up } = createWorld();
    const theirs = { default: { name: "theirs", external: true } };
    await assert.rejects(
      up({ services: { web }, networks: theirs }),
      (error) => isStackwrightError(error, "deploy_failed") && /network theirs/.test(error.message),
    );
    assert.deepEqual(engine.calls, []);
  });
});
