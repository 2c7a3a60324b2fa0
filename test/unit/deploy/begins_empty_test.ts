import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { withEmptyBeginnings } from "../../../src/deploy/mod.ts";
import { COMPOSE_LABELS, type Plan } from "../../../src/model/mod.ts";
import { createMemoryEngine, runningContainer } from "../../fakes/memory_engine.ts";
import { longestStretch } from "../processor_time.ts";
import { releaseOf, serviceOf } from "./releases.ts";

const LIVE = "/ours/releases/default/shop/live";

/**
 * What is said of a service with `./d`, or other paths, beside one of the old copy, which this process sees
 * at `seen`, with these files.
 */
async function toldOf(
  seen: string | undefined,
  committed: Readonly<Record<string, string>> = {},
  paths = ["d"],
) {
  const labels = { [COMPOSE_LABELS.workingDirectory]: "/old/o/r" };
  const containers = [{ ...runningContainer("shop", "web", { labels }), binds: [] }];
  const volumes = paths.map((path) => (
    { type: "bind", source: `${LIVE}/${path}`, target: `/${path}` }
  ));
  const release = releaseOf("1", [serviceOf("db")], {
    model: { name: "shop", services: { db: { volumes } } },
    live: { files: committed, directories: [] },
    workingDir: ".",
  });
  const warned: string[] = [];
  const parts = {
    host: {
      engine: createMemoryEngine(containers),
      dataDir: "/ours",
      localPath: () => Promise.resolve(seen),
    },
    files: {
      stat: (path: string) => Promise.resolve(path === "/seen" ? { kind: "file" } : undefined),
      // Nothing is below live yet.
      holdDirectory: () => Promise.resolve(undefined),
    },
    ledger: { current: () => undefined },
    log: { warning: (text: string) => warned.push(text) },
    options: { dataDir: "/ours" },
  } as unknown as Parameters<typeof withEmptyBeginnings>[0];
  const services = [{ name: "db", action: "create", because: [] }] as const;
  const plan: Plan = { kind: "deploy", message: "", services };
  const never = new AbortController().signal;
  const told = await withEmptyBeginnings(parts, { release }, { containers }, plan, never);
  assert.ok(told.kind === "deploy");
  const because = told.services.flatMap((each) => each.because);
  assert.deepEqual(warned, because.map((each) => `service db: ${each}`));
  return because;
}

describe("withEmptyBeginnings()", () => {
  it("says what Stackwright cannot see of what a service would get that has no container", async () => {
    assert.deepEqual(await toldOf(undefined), [
      "/d begins empty: Stackwright cannot see whether its data is in /old/o/r/d, beside which container " +
      `shop-web-1 was made; mount that into Stackwright's container, or copy it to ${LIVE}/d before`,
    ]);
  });

  it("says nothing of what is brought, what is not there, and what the commit has", async () => {
    for (const seen of ["/seen", "/nothing"]) assert.deepEqual(await toldOf(seen), []);
    assert.deepEqual(await toldOf(undefined, { "d/file": "file:1" }), []);
    assert.equal((await toldOf(undefined, { "d/.gitkeep": "file:1" })).length, 1);
    const beside = { "c/z": "file:1", "d!/x": "file:1", "d.txt": "file:1", "e/y": "file:1" };
    assert.equal((await toldOf(undefined, beside)).length, 1);
    assert.deepEqual(await toldOf(undefined, { ...beside, "d/a/b": "file:1" }), []);
  });

  it("does not look at every file of the commit for every mount", async () => {
    const paths = Array.from({ length: 3_000 }, (_, at) => `data/${at}`);
    const files = Array.from({ length: 45_000 }, (_, at) => [`files/${at}`, "file:1"] as const);
    const committed = Object.fromEntries(files);
    const work = async () => assert.equal((await toldOf(undefined, committed, paths)).length, 20);
    const alone = await longestStretch(work);
    assert.ok(alone < 800, `${alone} ms`);
  });
});
