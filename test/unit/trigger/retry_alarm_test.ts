import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { RunTarget, SourceRequest, Sync, Trigger } from "../../../src/model/mod.ts";
import { RetryAlarm } from "../../../src/trigger/mod.ts";
import { createFakeClock } from "../../fakes/fake_clock.ts";
import { createRecordingLog } from "../../fakes/recording_log.ts";

function source(reference: string): SourceRequest {
  return { kind: "git", url: "file:///shop.git", reference, target: "", deployments: [] };
}

function work(reference: string, trigger: Trigger = "webhook"): Sync {
  return { kind: "sync", trigger, origin: "automatic", sources: [source(reference)] };
}

function alarm() {
  const clock = createFakeClock();
  const started: string[] = [];
  const stop = new AbortController();
  const settled = new Set<string>();
  const made = new RetryAlarm({
    clock,
    log: createRecordingLog(),
    isOpen: ({ name }) => !settled.has(name),
    submit: ({ reference }) => void started.push(reference),
  }, stop.signal);
  /** A run with a stack that is due in so many milliseconds, or one that is not. */
  const run = (inMs?: number): { targets: RunTarget[] } => {
    const base = { context: "default", stack: "shop" };
    if (inMs === undefined) return { targets: [{ ...base, status: "succeeded" }] };
    const retryAt = new Date(clock.now().getTime() + inMs);
    return { targets: [{ ...base, status: "failed", retryAt }] };
  };
  return { clock, started, settled, stop, made, run };
}

describe("the alarm of retries", () => {
  it("starts each retry when it is due, the earliest first, with one timer", async () => {
    const { clock, started, made, run } = alarm();
    made.note(run(60_000), work("late"));
    made.note(run(20_000), work("early"));
    await clock.advance(0);
    assert.equal(clock.sleepers, 1);
    await clock.advance(19_999);
    assert.deepEqual(started, []);
    await clock.advance(1);
    assert.deepEqual(started, ["early"]);
    await clock.advance(40_000);
    assert.deepEqual(started, ["early", "late"]);
    assert.equal(clock.sleepers, 0);
    await clock.advance(10 * 60 * 60 * 1000);
    assert.deepEqual(started, ["early", "late"]);
  });

  it("starts each after its delay also when the clock is set back", async () => {
    const { clock, started, made, run } = alarm();
    made.note(run(60_000), work("early"));
    made.note(run(30 * 60_000), work("late"));
    await clock.advance(0);
    clock.set(-365 * 24 * 60 * 60 * 1000);
    await clock.advance(60_000);
    assert.deepEqual(started, ["early"]);
    await clock.advance(29 * 60_000);
    assert.deepEqual(started, ["early", "late"]);
  });

  it("forgets a retry when a later run says that nothing is due", async () => {
    const { clock, started, made, run } = alarm();
    made.note(run(20_000), work("main"));
    made.note(run(), work("main"));
    await clock.advance(60_000);
    assert.deepEqual([started, clock.sleepers], [[], 0]);
  });

  it("looks at nothing for a stack that was settled otherwise, or that a person holds", async () => {
    const { clock, started, settled, made, run } = alarm();
    made.note(run(20_000), work("main"));
    settled.add("shop");
    await clock.advance(60_000);
    assert.deepEqual([started, clock.sleepers], [[], 0]);
  });

  it("waits at least ten seconds, whatever is due", async () => {
    const { clock, started, made, run } = alarm();
    made.note(run(0), work("main"));
    await clock.advance(9_999);
    assert.deepEqual(started, []);
    await clock.advance(1);
    assert.deepEqual(started, ["main"]);
  });

  it("leaves what is polled to its polls, and starts nothing after the end", async () => {
    const { clock, started, stop, made, run } = alarm();
    made.note(run(20_000), work("main", "poll"));
    await clock.advance(0);
    assert.equal(clock.sleepers, 0);
    made.note(run(20_000), work("main"));
    stop.abort();
    made.note(run(20_000), work("other"));
    await clock.advance(60_000);
    assert.deepEqual([started, clock.sleepers], [[], 0]);
  });

  it("keeps 1,000 sources, at the expense of the repository with the most", async () => {
    const { clock, started, made, run } = alarm();
    const other: SourceRequest = { ...source("other"), url: "file:///other.git" };
    made.note(run(20_000), { ...work("other"), sources: [other] });
    for (let at = 0; at < 1500; at++) made.note(run(20_000), work(`branch ${at}`));
    await clock.advance(20_000);
    assert.deepEqual(started, [
      "other",
      ...Array.from({ length: 999 }, (_, at) => `branch ${at + 501}`),
    ]);
  });
});
