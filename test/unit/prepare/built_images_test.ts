import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { servicesOf } from "../../../src/compose/mod.ts";
import type { ComposeCall } from "../../../src/deploy/mod.ts";
import { builtNames, COMPOSE_LABELS, isKeptName, keptName } from "../../../src/model/mod.ts";
import { createImages, type ImageIds } from "../../../src/prepare/mod.ts";
import { keepImages, letNamedGo } from "../../../src/prepare/kept_names.ts";
import { noMeter, systemFiles } from "../../../src/system/mod.ts";
import { createFakeClock } from "../../fakes/fake_clock.ts";
import { createMemoryEngine, type MemoryEngine } from "../../fakes/memory_engine.ts";
import { createRecordingLog } from "../../fakes/recording_log.ts";

const signal = new AbortController().signal;
const OURS = "sha256:ours";
type Parts = Parameters<typeof createImages>[0];

/** Builds `app:1` of a service `web`; `meanwhile` is done when that has just ended. */
async function build(
  engine: MemoryEngine,
  meanwhile: (tags: readonly string[]) => void = () => {},
): Promise<ImageIds | undefined> {
  const parts: Partial<Parts> = {
    engine,
    compose: {
      build: ({ model = {} }: ComposeCall) => {
        const { tags = [] } = servicesOf(model)["web"]?.["build"] as { tags?: string[] };
        for (const name of ["app:1", ...tags, OURS]) engine.images[name] = OURS;
        meanwhile(tags);
        return Promise.resolve();
      },
    } as unknown as Parts["compose"],
    files: systemFiles,
    log: createRecordingLog(),
    meter: noMeter,
    clock: createFakeClock(),
    clientConfigFile: "/none/config.json",
  };
  const wanted = {
    key: { context: "default", name: "shop" },
    services: [{ name: "web", image: "app:1" }],
    call: {
      project: { name: "shop", directory: "/", files: [], envFiles: [], profiles: [] },
      variables: {},
      model: { services: { web: { image: "app:1", build: { context: ".", tags: ["app:2"] } } } },
    },
    timeoutSeconds: 60,
    progress: () => {},
  };
  const options = { forceImagePull: false, noCache: false, quiet: true, args: {} };
  return await createImages(parts as Parts).build(wanted, options, signal);
}

/** An engine that lists images as it has them, and removes what has no name any more. */
function engineOf(): MemoryEngine {
  const engine = createMemoryEngine();
  engine.listImages = () => {
    const named = Object.entries(engine.images).filter(([name]) => name.includes(":"));
    const ids = Map.groupBy(named, ([, id]) => id);
    return Promise.resolve([...ids].map(([id, names]) => ({
      id,
      tags: names.map(([name]) => name).filter((name) => name !== id),
      digests: [],
      labels: {},
    })));
  };
  engine.removeImage = (name) => Promise.resolve(void delete engine.images[name]);
  return engine;
}

const names = ({ images }: MemoryEngine) =>
  Object.keys(images).map((name) => name.replace(/[0-9a-f]{48}$/, "…")).sort();
const BUILT = `${builtNames("shop")}…`;

describe("images that were built", () => {
  it("are told by a name that nobody else knows, which stays in place of those of earlier builds", async () => {
    const engine = engineOf();
    const earlier = `${builtNames("shop")}1`;
    for (const name of [earlier, `${builtNames("other")}1`]) engine.images[name] = OURS;
    engine.images[`${builtNames("shop")}2`] = "sha256:before";
    let asked: readonly string[] = [];
    assert.deepEqual(await build(engine, (tags) => void (asked = tags)), { web: OURS });
    assert.deepEqual([asked.length, asked[0]], [2, "app:2"]);
    assert.match(asked[1] ?? "", /^stackwright\/kept:built-[0-9a-f]{16}-[0-9a-f]{48}$/);
    const stay = [
      "app:1",
      "app:2",
      OURS,
      BUILT,
      `${builtNames("shop")}2`,
      `${builtNames("other")}1`,
    ];
    assert.deepEqual(names(engine), stay.sort());
  });

  it("are these where another build took their name in the same moment, with any label", async () => {
    const engine = engineOf();
    const meanwhile = () => {
      for (const name of ["app:1", "app:2", "sha256:forged"]) engine.images[name] = "sha256:forged";
    };
    engine.imageLabels = () => Promise.resolve({ [COMPOSE_LABELS.project]: "shop" });
    assert.deepEqual(await build(engine, meanwhile), { web: OURS });
    // An engine would remove what loses its last name.
    assert.ok(names(engine).includes(BUILT));
  });

  it("are refused where they are gone as soon as they are there", async () => {
    const engine = engineOf();
    await assert.rejects(build(engine, (tags) => delete engine.images[tags[1] ?? ""]), {
      code: "build_failed",
      message: /the image that was built for service web of shop is not on the engine/,
    });
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
    await letNamedGo({ engine, log: createRecordingLog() }, isKeptName, signal);
    assert.deepEqual(engine.calls.slice(2), [`remove image ${keptName("sha256:1")}`]);
  });
});
