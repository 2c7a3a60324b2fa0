import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { HEAD_START_MS, recoveringPipeline } from "../../../src/app/recovering_pipeline.ts";
import { AWAY_MS } from "../../../src/pipeline/recover.ts";
import type { Assembly } from "../../../src/app/assemble.ts";
import type { RunReporter } from "../../../src/model/mod.ts";
import { createFakeClock, settle } from "../../fakes/fake_clock.ts";
import { createRecordingLog } from "../../fakes/recording_log.ts";

/**
 * A pipeline at a start after which something is open, whose engine says nothing until `answer`, or
 * says that it is there, and then nothing.
 */
function interrupted(isThere = true) {
  const engine = Promise.withResolvers<never>();
  const clock = createFakeClock();
  const intent = { id: "1", kind: "destroy", key: { context: "default", name: "shop" } };
  const owners = { uncleared: () => [] };
  const ledger = {
    interrupted: () => [intent],
    waits: () => false,
    current: () => undefined,
    owners,
  };
  const parts = {
    ledger,
    log: createRecordingLog(),
    listeners: [],
    clock,
    host: { info: () => isThere ? Promise.resolve({}) : engine.promise },
    stackLock: { run: () => engine.promise },
    secrets: { open: () => ({}), learned: () => Promise.resolve() },
    trees: { collect: () => Promise.resolve() },
  };
  const assembly = { ledger, pipelineParts: () => Promise.resolve(parts) };
  const { signal } = new AbortController();
  const pipeline = recoveringPipeline(assembly as unknown as Assembly, clock, signal);
  const work = { kind: "sync", trigger: "poll", origin: "manual", sources: [] } as const;
  const told: string[] = [];
  const other = pipeline.execute(work, {} as RunReporter, signal).then(() =>
    void told.push("done")
  );
  return { clock, told, other, answer: () => engine.reject(new Error("it is down")) };
}

describe("work beside what was interrupted", () => {
  it("waits for it, but for no longer than its head start", async () => {
    const { clock, told, other } = interrupted();
    await clock.advance(HEAD_START_MS - 1);
    assert.deepEqual(told, []);
    await clock.advance(1);
    await other;
    assert.ok(HEAD_START_MS <= 60_000, "nobody waits for more than a minute for what hangs");
  });

  it("does not wait for an engine that accepts questions and says nothing", async () => {
    const { clock, told, other } = interrupted(false);
    await clock.advance(AWAY_MS - 1);
    assert.deepEqual(told, []);
    await clock.advance(1);
    await other;
    assert.ok(AWAY_MS < HEAD_START_MS);
  });

  it("begins as soon as nothing is being finished any more", async () => {
    const { clock, told, other, answer } = interrupted();
    await settle();
    assert.deepEqual(told, []);
    answer();
    await other;
    assert.ok(clock.sleepers <= 1);
  });
});
