import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { adoptContainers } from "../../../src/deploy/mod.ts";
import type { RolloutResult } from "../../../src/deploy/rollout_words.ts";
import { systemFiles } from "../../../src/system/mod.ts";
import { createMemoryEngine, runningContainer } from "../../fakes/memory_engine.ts";
import { releaseOf } from "./releases.ts";

const MIB = 1 << 20;

/** Adopts 100 containers of each of which an engine tells so many characters. */
async function adopt(length: number) {
  const containers = Array.from(
    { length: 100 },
    (_, at) => runningContainer("shop", "web", { id: `${at}` }),
  );
  const engine = createMemoryEngine(containers);
  const asked: string[] = [];
  engine.containerRecipe = (id) => {
    asked.push(id);
    const body = { Env: ["x".repeat(length)] };
    return Promise.resolve({ id, name: id, runs: true, labels: {}, imageId: "1", body });
  };
  const parts = {
    host: { engine, dataDir: "/data" },
    files: systemFiles,
    ledger: { current: () => undefined },
    options: { dataDir: "/data/that/is/not/there", rollback: false },
  };
  const deployed: RolloutResult = { kind: "deployed", images: {} };
  const result = await adoptContainers(
    parts as unknown as Parameters<typeof adoptContainers>[0],
    {
      release: releaseOf("1", []),
      services: [],
      observed: { containers },
      progress: () => {},
      slot: { leave: () => {}, takeAgain: () => Promise.resolve() },
      hasPrevious: false,
      ranBefore: [],
      halts: { had: { halted: {}, copying: [], copied: [] }, note: () => {} },
    },
    () => Promise.resolve(deployed),
    new AbortController().signal,
  );
  return { result, asked, calls: engine.calls };
}

describe("adoptContainers()", () => {
  it("keeps 16 MiB of what an engine tells of the containers, and refuses more before it replaces any", async () => {
    const { result, asked, calls } = await adopt(MIB);
    assert.ok(result.kind === "failed" && result.error.code === "engine_refused");
    assert.match(result.error.message, /100 containers takes more than 16777216 characters/);
    assert.equal(result.text, "nothing was replaced");
    assert.ok(asked.length <= 20, `${asked.length} were asked for`);
    assert.deepEqual(calls, []);
  });

  it("replaces those of which it tells what containers have", async () => {
    const { result, asked } = await adopt(MIB / 10);
    assert.equal(result.kind, "deployed");
    assert.equal(asked.length, 100);
  });
});
