import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { COMPOSE_LABELS, isStackwrightError, keptName } from "../../../src/model/mod.ts";
import { builtImages } from "../../../src/prepare/built_images.ts";
import { keepImages, letNamedGo } from "../../../src/prepare/kept_names.ts";
import { createMemoryEngine } from "../../fakes/memory_engine.ts";
import { createRecordingLog } from "../../fakes/recording_log.ts";

const signal = new AbortController().signal;
const key = { context: "default", name: "shop" };

/** An engine on which `app:1` was built for a project, or is another's that nobody built for one. */
function engineWith(project: string | undefined) {
  const engine = createMemoryEngine();
  const build = (by: string | undefined) => {
    const id = `sha256:${by}`;
    Object.assign(engine.images, { "app:1": id, [id]: id });
  };
  build(project);
  engine.imageLabels = (id): Promise<Record<string, string>> =>
    Promise.resolve(
      id === "sha256:undefined" ? {} : { [COMPOSE_LABELS.project]: id.replace("sha256:", "") },
    );
  return { engine, build };
}

describe("builtImages()", () => {
  const services = [{ name: "web", image: "app:1" }];
  const never = () => assert.fail("it is built again");

  it("are those that the names mean now", async () => {
    const { engine } = engineWith("shop");
    assert.deepEqual(await builtImages(engine, key, services, never, signal), {
      web: "sha256:shop",
    });
  });

  it("are built once more where the name got another meaning in the same moment", async () => {
    for (const other of ["other", undefined]) {
      const { engine, build } = engineWith(other);
      const asked: string[] = [];
      const again = (left: readonly { readonly name: string }[]) => {
        asked.push(...left.map(({ name }) => name));
        return Promise.resolve(build("shop"));
      };
      assert.deepEqual(await builtImages(engine, key, services, again, signal), {
        web: "sha256:shop",
      });
      assert.deepEqual(asked, ["web"]);
    }
  });

  it("are built once more where another build took the name, and the engine kept nothing of ours", async () => {
    const { engine, build } = engineWith("shop");
    engine.keepsUnnamed = false;
    engine.onCall = (call) => {
      if (!call.startsWith("tag sha256:shop") || engine.calls.length > 1) return;
      delete engine.images["sha256:shop"];
    };
    let times = 0;
    const again = () => Promise.resolve(void (times++, build("shop")));
    const built = await builtImages(engine, key, services, again, signal);
    assert.deepEqual([built, times], [{ web: "sha256:shop" }, 1]);
  });

  it("are built once more where the name means nothing for a moment, and left out where it never does", async () => {
    const { engine, build } = engineWith("shop");
    delete engine.images["app:1"];
    const all = [...services, { name: "gone", image: "gone:1" }];
    const asked: string[] = [];
    const again = (left: readonly { readonly name: string }[]) => {
      asked.push(left.map(({ name }) => name).join(" "));
      return Promise.resolve(build("shop"));
    };
    assert.deepEqual(await builtImages(engine, key, all, again, signal), { web: "sha256:shop" });
    assert.deepEqual(asked.slice(0, 2), ["web gone", "gone"]);
  });

  it("are refused where another project builds one of that name each time", async () => {
    let times = 0;
    const again = () => Promise.resolve(void times++);
    await assert.rejects(
      builtImages(engineWith("other").engine, key, services, again, signal),
      (error) => isStackwrightError(error, "conflict") && /app:1.*for other/.test(error.message),
    );
    assert.equal(times, 7);
  });
});

describe("keepImages()", () => {
  it("names nothing on an engine that keeps what has no name", async () => {
    const engine = createMemoryEngine();
    engine.images["sha256:1"] = "sha256:1";
    assert.deepEqual(await keepImages(engine, ["sha256:1"], signal), []);
    assert.deepEqual(engine.calls, []);
  });

  it("names each image once on any other, and lets go what has a name besides", async () => {
    const engine = createMemoryEngine();
    engine.keepsUnnamed = false;
    const ids = ["sha256:1", "sha256:2"];
    for (const id of ids) engine.images[id] = id;
    assert.deepEqual(await keepImages(engine, [...ids, ...ids], signal), ids);
    assert.deepEqual(await keepImages(engine, ids, signal), []);
    const none = { digests: [], labels: {} };
    engine.listImages = () =>
      Promise.resolve([
        { id: "sha256:1", tags: ["app:1", keptName("sha256:1")], ...none },
        { id: "sha256:2", tags: [keptName("sha256:2")], ...none },
      ]);
    await letNamedGo({ engine, log: createRecordingLog() }, ids, signal);
    assert.deepEqual(engine.calls.slice(2), [`remove image ${keptName("sha256:1")}`]);
  });
});
