import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { makeOfBuilt } from "../../../../src/deploy/engine/make_of_built.ts";
import { isStackwrightError } from "../../../../src/model/mod.ts";
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

  it("makes it again when another stack moved the name in that moment", async () => {
    const { engine, make } = createWorld(1);
    const id = await make(OURS);
    assert.equal(engine.containers.find((each) => each.id === id)?.imageId, OURS);
    assert.deepEqual(engine.calls, [
      "make shop-web-1",
      "remove shop-web-1-id",
      `tag ${OURS} app:1`,
      "make shop-web-1",
    ]);
  });

  it("leaves no container of another's image where the name is moved each time", async () => {
    const { engine, make } = createWorld(100);
    await assert.rejects(make(OURS), (error) => isStackwrightError(error, "conflict"));
    assert.deepEqual(engine.containers, []);
  });

  it("takes the engine's word where it tells images of containers in another way", async () => {
    const { engine, make } = createWorld(1);
    delete engine.images[THEIRS];
    assert.equal(await make(OURS), "shop-web-1-id");
  });
});
