import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import type { Run } from "../../../src/model/mod.ts";
import { LedgerDatabase } from "../../../src/record/ledger_database.ts";
import { RunArchive } from "../../../src/record/run_archive.ts";
import { createRuns, RUNS_PER_TRIGGER } from "../../../src/record/runs.ts";
import type { RunStore } from "../../../src/record/run_store.ts";
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

  it("are the newest also where the clock was set back, and after a restart", () => {
    const { archive } = createArchive();
    let hour = 3;
    const clock = { ...createFakeClock(), now: () => new Date(Date.UTC(2026, 0, 1, hour)) };
    const start = () => createRuns({ clock, kept: archive });
    const runs = start();
    for (const id of ["run-1", "run-2", "run-3"]) {
      runs.accept({ id, trigger: "poll" });
      runs.finish(id, { status: "succeeded", message: "" });
      hour--;
    }
    const newest = ["run-3", "run-2"];
    for (const each of [runs, start()]) {
      assert.deepEqual(each.list({ limit: 2 }).map(({ id }) => id), newest);
    }
  });

  it("of other processes are listed, and no listener takes them for work of this one", () => {
    const { clock, start } = createArchive();
    const service = start();
    service.accept({ id: "run-1", trigger: "poll" });
    const ended = service.finish("run-1", { status: "skipped", message: "no changes" });
    const news = (isKnown: (id: string) => boolean) => isKnown(ended.id) ? [] : [ended];
    const command = createRuns({ clock, kept: { all: () => [], keep() {}, news } });
    const heard: Run[] = [];
    command.subscribe((run) => heard.push(run));
    assert.deepEqual(command.list({ limit: 10 }), [ended]);
    assert.deepEqual(heard, []);
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

  it("leave each repository its share of those of jobs, however many stacks it has", () => {
    const { archive, start } = createArchive();
    const runs = start();
    const job = (owner: string, stack: string) => {
      const id = `${owner} ${stack}`;
      runs.accept({ id, trigger: "scheduled_job", repository: `scheduled:${stack}-tick-1`, owner });
      runs.target(id, { context: "default", stack, status: "succeeded", message: "" });
      runs.finish(id, { status: "succeeded", message: "" });
    };
    job("h/o/calm", "db");
    for (let n = 0; n < 60; n++) job("h/o/many", `stack${n}`);
    for (const kept of [runs.list({ limit: 999 }), archive.all(), start().list({ limit: 999 })]) {
      assert.equal(kept.length, RUNS_PER_TRIGGER);
      assert.ok(kept.some(({ id }) => id === "h/o/calm db"));
    }
  });

  it("leave each stack and repository its share, whoever has one each second", async () => {
    const { archive, clock, start } = createArchive();
    const runs = start();
    const finish = async (id: string, facts: Parameters<RunStore["accept"]>[0], stack: string) => {
      runs.accept(facts);
      runs.target(id, { context: "default", stack, status: "succeeded", message: "" });
      runs.finish(id, { status: "succeeded", message: "" });
      await clock.advance(1_000);
    };
    const job = (id: string, name: string, stack: string) =>
      finish(id, { id, trigger: "scheduled_job", repository: `scheduled:${name}` }, stack);
    const poll = (id: string, repository: string) =>
      finish(id, { id, trigger: "poll", repository }, "shop");
    await job("nightly", "db-backup-1", "db");
    await job("hourly", "loud-report-1", "loud");
    await poll("quiet", "h/o/quiet");
    for (let n = 0; n < 70; n++) {
      await job(`tick-${n}`, "loud-tick-1", "loud");
      await poll(`busy-${n}`, "h/o/busy");
    }
    for (const kept of [runs.list({ limit: 999 }), archive.all()]) {
      const ids = new Set(kept.map(({ id }) => id));
      assert.equal(ids.size, 2 * RUNS_PER_TRIGGER);
      for (const id of ["nightly", "hourly", "quiet", "tick-69", "busy-69"]) {
        assert.ok(ids.has(id), id);
      }
    }
  });

  it("are also those that another process has kept meanwhile, each in its place", async () => {
    const directory = await mkdtemp(join(tmpdir(), "swt-runs-"));
    const path = join(directory, "state.db");
    const [ours, theirs] = [new LedgerDatabase(path), new LedgerDatabase(path)];
    try {
      const clock = createFakeClock();
      const service = createRuns({ clock, kept: new RunArchive(ours) });
      const command = createRuns({ clock, kept: new RunArchive(theirs) });
      const finish = async (runs: RunStore, id: string) => {
        runs.accept({ id, trigger: "poll" });
        runs.finish(id, { status: "succeeded", message: id });
        await clock.advance(1_000);
      };
      for (let n = 0; n < RUNS_PER_TRIGGER; n++) await finish(service, `service-${n}`);
      assert.equal(service.get("command-0"), undefined);
      await finish(command, "command-0");
      assert.equal(service.get("command-0")?.message, "command-0");
      await finish(service, "service-last");
      const listed = service.list({ limit: 99 }).map(({ id }) => id);
      assert.deepEqual(listed.slice(0, 3), ["service-last", "command-0", "service-49"]);
      assert.deepEqual([listed.length, listed.at(-1)], [RUNS_PER_TRIGGER, "service-2"]);
      assert.deepEqual(command.list({ limit: 1 }).map(({ id }) => id), ["service-last"]);
    } finally {
      ours.close();
      theirs.close();
      await rm(directory, { recursive: true });
    }
  });

  it("are kept with as much as a person reads", () => {
    let kept: Run | undefined;
    const runs = createRuns({
      clock: createFakeClock(),
      kept: { all: () => [], news: () => [], keep: (ended) => void ([kept] = ended) },
    });
    runs.accept({ id: "run-1", trigger: "poll" });
    const because = Array.from({ length: 20 }, () => "y".repeat(4000));
    const services = Array.from({ length: 500 }, (_, index) => {
      return { name: `web${index}`, action: "create" as const, because };
    });
    for (let stack = 0; stack < 100; stack++) {
      const entry = { context: "", stack: `s${stack}`, status: "failed" as const };
      runs.target("run-1", { ...entry, message: "z".repeat(9000), services });
    }
    runs.finish("run-1", { status: "failed", message: "x".repeat(9000) });
    assert.equal(kept?.targets.length, 100);
    assert.equal(kept.message.length, 2000);
    assert.ok(JSON.stringify(kept).length < 600_000);
    for (const { message, services: told } of kept.targets) {
      assert.ok(message?.endsWith("zzz...") && told?.[0]?.name === "web0");
    }
  });

  it("are missed by nobody who works: what cannot be kept is not", () => {
    const broken = {
      all: (): Run[] => [],
      news: () => {
        throw new Error("no such file");
      },
      keep: () => {
        throw new Error("disk full");
      },
    };
    const runs = createRuns({ clock: createFakeClock(), kept: broken });
    runs.accept({ id: "run-1", trigger: "poll" });
    assert.equal(runs.finish("run-1", { status: "succeeded", message: "" }).status, "succeeded");
  });
});
