import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Changes } from "../../../../src/deploy/backend.ts";
import { composeOfBuilt } from "../../../../src/deploy/engine/compose_of_built.ts";
import { serviceOf, textAt } from "../../../../src/compose/mod.ts";
import { isStackwrightError, keptName } from "../../../../src/model/mod.ts";
import { createMemoryEngine, runningContainer } from "../../../fakes/memory_engine.ts";

const never = new AbortController().signal;
const OURS = "sha256:ours";
const THEIRS = "sha256:theirs";

/** A compose that makes containers of the name, which another stack moves before each call. */
function createWorld({ moves = false, movesKept = false }, fields: Partial<Changes> = {}) {
  const engine = createMemoryEngine([runningContainer("shop", "db", { imageId: "sha256:db" })]);
  Object.assign(engine.images, { "app:1": OURS, [OURS]: OURS, [THEIRS]: THEIRS });
  const calls: string[] = [];
  const up = ({ scale, noStart, mode, call }: Changes) => {
    const name = textAt(serviceOf(call.model ?? {}, "web"), "image");
    calls.push(`${mode} ${Object.keys(scale).join(",")}${noStart ? " without a start" : ""}`);
    const made = (each: { readonly service: string }) => each.service === "web";
    if (!noStart) {
      engine.containers = engine.containers.map((each) =>
        made(each) ? { ...each, state: "running" } : each
      );
    } else if (mode === "replace" || !engine.containers.some(made)) {
      if (name === "app:1" && moves) engine.images["app:1"] = THEIRS;
      if (movesKept) engine.images[keptName(OURS)] = THEIRS;
      const imageId = engine.images[name] ?? "";
      const web = runningContainer("shop", "web", { imageId, state: "created" });
      engine.containers = [...engine.containers.filter((each) => !made(each)), web];
    }
    return Promise.resolve();
  };
  const changes: Changes = {
    key: { context: "default", name: "shop" },
    call: {
      project: { name: "shop", directory: "/", files: ["-"], envFiles: [], profiles: [] },
      variables: {},
      model: { name: "shop", services: { web: { image: "app:1" }, db: { image: "db:1" } } },
    },
    mode: "replace",
    scale: { web: 1, db: 1 },
    noStart: false,
    built: { web: OURS },
    timeoutMs: 1000,
    progress: () => {},
    ...fields,
  };
  const run = () => composeOfBuilt(engine, { up }, changes, never);
  return {
    engine,
    calls,
    run,
    web: () => engine.containers.find((each) => each.service === "web"),
  };
}

describe("composeOfBuilt()", () => {
  it("has compose make everything, and start nothing, where nothing was built", async () => {
    for (const built of [undefined, { other: OURS }]) {
      const { calls, run } = createWorld({}, built === undefined ? { built: {} } : { built });
      await run();
      assert.deepEqual(calls, ["replace web,db without a start"]);
    }
  });

  it("starts nothing", async () => {
    const { calls, run, web } = createWorld({});
    await run();
    assert.deepEqual(calls, ["replace web,db without a start"]);
    assert.deepEqual([web()?.imageId, web()?.state], [OURS, "created"]);
  });

  it("has made again what was made of another stack's image, before it ran", async () => {
    for (const mode of ["replace", "complete"] as const) {
      const { calls, run, web, engine } = createWorld({ moves: true }, { mode });
      await run();
      assert.deepEqual(calls, [
        `${mode} web,db without a start`,
        `${mode} web without a start`,
      ]);
      assert.deepEqual([web()?.imageId, web()?.state], [OURS, "created"]);
      // What replaces has the volumes of who went, which are handed on.
      const removed = engine.calls.filter((each) => each === "remove web-id").length;
      assert.equal(removed, mode === "replace" ? 0 : 1);
    }
  });

  it("starts nothing of another's image where all names are moved each time", async () => {
    const { run, web } = createWorld({ moves: true, movesKept: true });
    await assert.rejects(run(), (error) => isStackwrightError(error, "conflict"));
    assert.notEqual(web()?.state, "running");
  });
});
