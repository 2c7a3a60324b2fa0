import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { nameAside } from "../../../../src/deploy/compose/act_on_services.ts";
import { clearHalfReplaced, isHalfReplaced } from "../../../../src/deploy/mod.ts";
import { COMPOSE_LABELS, type ObservedContainer, stackKey } from "../../../../src/model/mod.ts";
import { createMemoryEngine, runningContainer } from "../../../fakes/memory_engine.ts";

const WAITING: ObservedContainer = {
  id: "2",
  name: "0123456789ab_shop-web-1",
  service: "web",
  state: "created",
  health: "none",
  exitCode: undefined,
  imageId: "sha256:1",
  labels: { "com.docker.compose.replace": "0123456789abcdef" },
};

describe("isHalfReplaced()", () => {
  it("is true of a container that waits to take another one's place", () => {
    assert.equal(isHalfReplaced(WAITING), true);
    assert.equal(isHalfReplaced({ ...WAITING, state: "running" }), true);
    assert.equal(isHalfReplaced({ ...WAITING, state: "exited", exitCode: 1 }), true);
  });

  const others: readonly (readonly [title: string, change: Partial<ObservedContainer>])[] = [
    ["has its final name", { name: "shop-web-1" }],
    ["was named like that by its author", { labels: {} }],
    ["runs, and was replaced by compose", {
      state: "running",
      labels: { "com.docker.compose.replace": "web-1" },
    }],
  ];
  for (const [title, change] of others) {
    it(`is false when it ${title}`, () => {
      assert.equal(isHalfReplaced({ ...WAITING, ...change }), false);
    });
  }
});

describe("clearHalfReplaced()", () => {
  const own = { [COMPOSE_LABELS.project]: "shop", [COMPOSE_LABELS.number]: "1" };
  const waiting = { ...WAITING, labels: { ...WAITING.labels, ...own } };
  const clear = async (
    others: readonly ObservedContainer[],
    more: Partial<ObservedContainer> = {},
  ) => {
    const engine = createMemoryEngine([{ ...waiting, ...more }, ...others]);
    await clearHalfReplaced(engine, stackKey("", "shop"), new AbortController().signal);
    return engine.calls;
  };

  it("removes one whose predecessor exists", async () => {
    const old = runningContainer("shop", "web", { id: `0123456789ab${"0".repeat(52)}` });
    assert.deepEqual(await clear([old]), ["remove 2"]);
    assert.deepEqual(await clear([{ ...old, name: "moved", state: "exited" }]), ["remove 2"]);
  });

  it("says what is there then, without what is only run once", async () => {
    const web = runningContainer("shop", "web");
    const labels = { ...web.labels, [COMPOSE_LABELS.oneOff]: "True" };
    const once = runningContainer("shop", "web", { id: "once", name: "shop-once", labels });
    const engine = createMemoryEngine([web, once]);
    const say = () => clearHalfReplaced(engine, stackKey("", "shop"), new AbortController().signal);
    assert.deepEqual((await say()).containers.map((each) => each.id), [web.id]);
    engine.containers.push(waiting);
    assert.deepEqual((await say()).containers.map((each) => each.id), [web.id]);
    assert.deepEqual(engine.calls, ["remove 2"]);
  });

  describe("of a container with a service's labels and no number", () => {
    const web = runningContainer("shop", "web");
    const { [COMPOSE_LABELS.number]: _number, ...rest } = web.labels;
    const labels = { ...rest, [COMPOSE_LABELS.version]: "5.5.0" };
    const hook = { ...web, id: "hook", name: "beautiful_easley", labels };
    const goes = ["remove hook with volumes"];
    const ours = "stackwright/kept:1234";
    const images: readonly [
      string,
      Readonly<Record<string, string>> | undefined,
      string,
      string[],
    ][] = [
      ["removes a hook that compose left behind", {}, "sha256:1", goes],
      ["removes one of an image that was built, which our name of it tells", labels, ours, goes],
      ["keeps what has them from its image, with its volumes", labels, "shop-web", []],
      ["keeps what was made by the id of such an image", labels, "sha256:1", []],
      ["keeps what is made of an image that tells nothing any more", undefined, "shop-web", []],
    ];
    for (const [title, ofImage, image, calls] of images) {
      it(title, async () => {
        const engine = createMemoryEngine([web, hook]);
        engine.imageLabels = () => Promise.resolve(ofImage);
        const recipe = { id: "hook", name: hook.name, runs: true, labels, imageId: "sha256:1" };
        engine.containerRecipe = () => Promise.resolve({ ...recipe, body: { Image: image } });
        const signal = new AbortController().signal;
        const { containers } = await clearHalfReplaced(engine, stackKey("", "shop"), signal);
        assert.deepEqual(containers.map(({ id }) => id), [web.id]);
        assert.deepEqual(engine.calls, calls);
      });
    }
  });

  it("removes one whose name another has", async () => {
    assert.deepEqual(await clear([runningContainer("shop", "web")]), ["remove 2"]);
  });

  it("lets one take the place of a predecessor that is gone: it has its anonymous volumes", async () => {
    assert.deepEqual(await clear([]), ["rename 2 shop-web-1"]);
  });

  const old = runningContainer("shop", "web", { id: `0123456789ab${"0".repeat(52)}` });

  it("ends one that runs while its predecessor still serves", async () => {
    assert.deepEqual(await clear([old], { state: "running" }), ["stop 2", "remove 2"]);
  });

  it("lets one take the place of a predecessor that only ends what it was asked", async () => {
    const id = "2".repeat(64);
    const retiring = { ...old, name: nameAside(id, "shop-web-1") };
    assert.deepEqual(await clear([retiring], { id, state: "running" }), [
      `stop ${old.id}`,
      `remove ${old.id}`,
      `rename ${id} shop-web-1`,
    ]);
  });

  it("removes a predecessor that only ends what it was asked, whose name its successor has", async () => {
    const id = "2".repeat(64);
    const retiring = { ...old, name: nameAside(id, "shop-web-1") };
    const successor = { id, name: "shop-web-1", state: "running" } as const;
    assert.deepEqual(await clear([retiring], successor), [`stop ${old.id}`, `remove ${old.id}`]);
  });

  it("gives one that runs alone its name", async () => {
    assert.deepEqual(await clear([], { state: "running" }), ["rename 2 shop-web-1"]);
  });
});
