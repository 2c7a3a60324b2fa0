import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { makeOfBuilt } from "../../../../src/deploy/engine/make_of_built.ts";
import { createMemoryEngine, runningContainer } from "../../../fakes/memory_engine.ts";

const never = new AbortController().signal;
const OURS = "sha256:ours";
const THEIRS = "sha256:theirs";

/** An engine on which another stack moves the name to its own image before each of some containers is made. */
function createWorld(moves: number) {
  const engine = createMemoryEngine();
  Object.assign(engine.images, { "app:1": OURS, [OURS]: OURS, [THEIRS]: THEIRS });
  const { makeContainer } = engine;
  let left = moves;
  engine.makeContainer = async (wish, signal) => {
    if (left-- > 0) engine.images["app:1"] = THEIRS;
    const id = await makeContainer.call(engine, wish, signal);
    const imageId = engine.images[wish.body.Image] ?? "";
    engine.containers = [{ ...runningContainer("shop", "web"), id, imageId }];
    return id;
  };
  const body = { Image: "app:1", AttachStdout: false, AttachStderr: false };
  const rest = { Labels: {}, Env: [], HostConfig: {} };
  const wish = { name: "shop-web-1", platform: "", body: { ...body, ...rest }, connect: {} };
  return { engine, make: (built?: string) => makeOfBuilt(engine, wish, built, never) };
}

describe("makeOfBuilt()", () => {
  it("makes one container of a name that means what was built, or where nothing was", async () => {
    for (const [moves, built] of [[0, OURS], [1, undefined], [1, THEIRS]] as const) {
      const { engine, make } = createWorld(moves);
      assert.equal(await make(built), "shop-web-1-id");
      assert.deepEqual(engine.calls, ["make shop-web-1"]);
    }
  });

  it("makes it again of the image itself when another stack moves the name, however often", async () => {
    const { engine, make } = createWorld(100);
    const id = await make(OURS);
    assert.equal(engine.containers.find((each) => each.id === id)?.imageId, OURS);
    assert.deepEqual(engine.calls, [
      "make shop-web-1",
      "remove shop-web-1-id",
      "make shop-web-1",
    ]);
  });

  it("takes what the engine does not know any more for another's image", async () => {
    // As in containerd's store when a third build took the name meanwhile.
    const { engine, make } = createWorld(1);
    delete engine.images[THEIRS];
    assert.equal(await make(OURS), "shop-web-1-id");
    assert.ok(engine.calls.includes("remove shop-web-1-id"));
    assert.equal(engine.containers[0]?.imageId, OURS);
  });

  it("knows what was built by the digest of what runs, too", async () => {
    const { engine, make } = createWorld(1);
    engine.imageContent = (image) => Promise.resolve(image === OURS ? THEIRS : undefined);
    await make(OURS);
    assert.deepEqual(engine.calls, ["make shop-web-1"]);
  });
});
