import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Run } from "../../../src/model/mod.ts";
import { LedgerDatabase } from "../../../src/record/ledger_database.ts";
import { RunArchive } from "../../../src/record/run_archive.ts";
import { createRuns } from "../../../src/record/runs.ts";
import { createFakeClock } from "../../fakes/fake_clock.ts";

function createArchive() {
  const archive = new RunArchive(new LedgerDatabase(":memory:"));
  const clock = createFakeClock();
  return { archive, clock, start: () => createRuns({ clock, kept: archive }) };
}

describe("the last runs", () => {
  it("are there again after a restart, as they were", () => {
    const { clock, start } = createArchive();
    const before = start();
    const { id } = before.accept({ id: "run-1", trigger: "poll", repository: "h/o/r" });
    const retryAt = new Date(clock.now().getTime() + 60_000);
    const target = { context: "default", stack: "shop", message: "web is unhealthy" };
    before.target(id, { ...target, status: "failed", retryAt });
    before.finish(id, { status: "failed", message: "web is unhealthy" });
    const after = start();
    assert.deepEqual(after.get(id), before.get(id));
    assert.deepEqual(after.list({ limit: 10 }), before.list({ limit: 10 }));
  });

  it("are those that ended", () => {
    const { start } = createArchive();
    const { id } = start().accept({ id: "run-1", trigger: "poll" });
    assert.equal(start().get(id), undefined);
  });

  it("are so many, and those that did something outlive those that did not", async () => {
    const { archive, clock, start } = createArchive();
    const runs = start();
    const finish = async (name: string, status: "succeeded" | "skipped") => {
      runs.accept({ id: name, trigger: "poll" });
      runs.finish(name, { status, message: "" });
      await clock.advance(1_000);
    };
    for (let n = 0; n < 60; n++) await finish(`acted-${n}`, "succeeded");
    for (let n = 0; n < 60; n++) await finish(`idle-${n}`, "skipped");
    const kept = archive.all().map(({ id }) => id);
    assert.equal(kept.length, 60);
    assert.deepEqual([kept[0], kept[49], kept[50], kept[59]], [
      "acted-10",
      "acted-59",
      "idle-50",
      "idle-59",
    ]);
  });

  it("are missed by nobody who works: what cannot be kept is not", () => {
    const broken = {
      all: (): Run[] => [],
      keep: () => {
        throw new Error("disk full");
      },
    };
    const runs = createRuns({ clock: createFakeClock(), kept: broken });
    runs.accept({ id: "run-1", trigger: "poll" });
    assert.equal(runs.finish("run-1", { status: "succeeded", message: "" }).status, "succeeded");
  });
});
