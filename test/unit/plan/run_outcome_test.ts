import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Origin, RunTarget, Trigger } from "../../../src/model/mod.ts";
import {
  deferredBy,
  isDeferred,
  reduceTargets,
  type RunContext,
  splitFailure,
} from "../../../src/plan/run_outcome.ts";

const POLL: RunContext = {
  trigger: "poll",
  origin: "automatic",
  sources: 1,
  formatTime: (instant) => instant.toISOString().replace("Z", "+00:00"),
};
const MANUAL: RunContext = { ...POLL, origin: "manual" };

const ok = target("ok", { status: "succeeded" });
const unchanged = target("same", { status: "skipped", reason: "no_changes" });
const paused = target("web", { status: "skipped", reason: "paused: frozen by ops" });
const delayed = target("slow", {
  status: "skipped",
  reason: "delay",
  retryAt: new Date("2026-05-04T20:00:00.500Z"),
});
const exhausted = target("spent", { status: "skipped", reason: "budget_exhausted" });
const failed = target("bad", { status: "failed", message: "pull failed" });
const failedOnEdge = { ...failed, context: "edge", message: "no such context" };

function target(stack: string, rest: Partial<RunTarget>): RunTarget {
  return { context: "default", stack, status: "pending", ...rest };
}

function deferred(stack: string, windows: string, opens?: string): RunTarget {
  const retryAt = opens === undefined ? undefined : new Date(opens);
  const message = deferredBy(windows.split(", "), retryAt);
  const reason = "sync_window";
  return target(stack, { status: "skipped", reason, message, ...(retryAt && { retryAt }) });
}

describe("reduceTargets()", () => {
  const rows: {
    name: string;
    targets: RunTarget[];
    context?: RunContext;
    status: string;
    message: string;
  }[] = [
    {
      name: "all succeeded",
      targets: [ok, ok],
      status: "succeeded",
      message: "poll completed successfully",
    },
    {
      name: "all succeeded, asked by somebody",
      targets: [ok],
      context: MANUAL,
      status: "succeeded",
      message: "poll jobs complete",
    },
    {
      name: "success and no changes",
      targets: [unchanged, ok],
      status: "succeeded",
      message: "poll completed successfully",
    },
    {
      name: "success and paused",
      targets: [paused, ok],
      status: "succeeded",
      message: "poll completed successfully",
    },
    {
      name: "success and deferred",
      targets: [deferred("a", "night"), ok],
      status: "succeeded",
      message: "poll completed successfully",
    },
    { name: "nothing changed", targets: [unchanged], status: "skipped", message: "no changes" },
    { name: "no targets", targets: [], status: "skipped", message: "nothing to deploy" },
    {
      name: "all paused",
      targets: [paused, { ...paused, stack: "api" }],
      status: "skipped",
      message: "paused: frozen by ops",
    },
    {
      name: "paused for different reasons",
      targets: [paused, { ...paused, reason: "paused until Monday" }],
      status: "skipped",
      message: "paused: frozen by ops; paused until Monday",
    },
    {
      name: "retry delayed",
      targets: [delayed],
      status: "skipped",
      message: "retry of slow is delayed until 2026-05-04T20:00:00+00:00",
    },
    {
      name: "retry budget exhausted",
      targets: [exhausted],
      status: "skipped",
      message: "retries of spent are exhausted",
    },
    {
      name: "deferred by a window",
      targets: [deferred("shop", "night-only", "2026-05-04T20:00:00Z")],
      status: "skipped",
      message:
        "deployment of shop deferred by sync window night-only until 2026-05-04T20:00:00+00:00",
    },
    {
      name: "deferred by several, until the earliest opening that is known",
      targets: [
        deferred("web", "night-only, freeze", "2026-05-04T22:00:00Z"),
        deferred("api", "freeze"),
        deferred("api", "weekend", "2026-05-04T20:00:00Z"),
      ],
      status: "skipped",
      message: "deployment of api, web deferred by sync window freeze, night-only, weekend until " +
        "2026-05-04T20:00:00+00:00",
    },
    {
      name: "deferred without a known opening",
      targets: [deferred("shop", "freeze")],
      status: "skipped",
      message: "deployment of shop deferred by sync window freeze",
    },
    {
      name: "deferred and paused",
      targets: [paused, deferred("shop", "freeze")],
      status: "skipped",
      message: "deployment of shop deferred by sync window freeze; paused: frozen by ops",
    },
    {
      name: "filter mismatch",
      targets: [target("a", { status: "skipped", reason: "filter_mismatch" })],
      status: "skipped",
      message: "the reference does not match the webhook filter",
    },
    {
      name: "superseded",
      targets: [target("a", { status: "skipped", reason: "superseded" })],
      status: "skipped",
      message: "a is superseded by a newer revision",
    },
    {
      name: "nothing to destroy",
      targets: [target("a", { status: "skipped", reason: "nothing_to_destroy" })],
      status: "skipped",
      message: "a: nothing to destroy",
    },
    { name: "a failure", targets: [failed], status: "failed", message: "bad: pull failed" },
    {
      name: "a failure among everything else",
      targets: [ok, unchanged, paused, delayed, deferred("d", "w"), failed],
      status: "failed",
      message: "bad: pull failed",
    },
    {
      name: "failures on several contexts",
      targets: [failed, failedOnEdge],
      status: "failed",
      message: "bad: pull failed; bad (edge): no such context",
    },
    {
      name: "a failure without a message",
      targets: [target("bad", { status: "failed" })],
      status: "failed",
      message: "bad: failed",
    },
    {
      name: "a target that was left running",
      targets: [ok, target("lost", { status: "running" })],
      status: "failed",
      message: "lost: did not finish",
    },
    {
      name: "a target that was left in the middle of a step",
      targets: [ok, target("lost", { status: "pending", message: "pulling web" })],
      status: "failed",
      message: "lost: did not finish: pulling web",
    },
    {
      name: "an error without any target",
      targets: [],
      context: { ...POLL, failures: ["cannot reach example.org"] },
      status: "failed",
      message: "cannot reach example.org",
    },
    {
      name: "an error beside successes",
      targets: [ok],
      context: { ...POLL, failures: ["cannot reach example.org"] },
      status: "failed",
      message: "cannot reach example.org",
    },
    {
      name: "an error that is also its target's",
      targets: [failed],
      context: { ...POLL, failures: ["pull failed"] },
      status: "failed",
      message: "bad: pull failed",
    },
    {
      name: "a manual poll of one source with two failed targets",
      targets: [failed, failedOnEdge],
      context: MANUAL,
      status: "failed",
      message: "1/1 poll jobs failed: bad: pull failed; bad (edge): no such context",
    },
    {
      name: "a manual poll of three sources, two of which failed",
      targets: [ok, failed],
      context: { ...MANUAL, sources: 3, failures: ["pull failed", "no access"] },
      status: "failed",
      message: "2/3 poll jobs failed: bad: pull failed; no access",
    },
  ];
  for (const { name, targets, context = POLL, status, message } of rows) {
    it(`${name}: ${status}`, () => {
      assert.deepEqual(reduceTargets(targets, context), { status, message });
    });
  }

  const successes: [Trigger, Origin, string][] = [
    ["webhook", "automatic", "job completed successfully"],
    ["poll", "automatic", "poll completed successfully"],
    ["poll", "manual", "poll jobs complete"],
    ["scheduled_job", "manual", "scheduled job trigger completed"],
    ["mirror_compaction", "manual", "mirror compaction completed"],
  ];
  for (const [trigger, origin, message] of successes) {
    it(`says ${message} for a ${origin} ${trigger}`, () => {
      assert.equal(reduceTargets([ok], { ...POLL, trigger, origin }).message, message);
    });
  }
});

describe("isDeferred()", () => {
  const rows: [string, RunTarget[], boolean][] = [
    ["all deferred", [deferred("a", "w")], true],
    ["all paused", [paused], true],
    ["paused and deferred", [paused, deferred("a", "w")], true],
    ["deferred and unchanged", [deferred("a", "w"), unchanged], false],
    ["deferred and deployed", [deferred("a", "w"), ok], false],
    ["nothing at all", [], false],
  ];
  for (const [name, targets, expected] of rows) {
    it(`is ${expected} for ${name}`, () => assert.equal(isDeferred(targets), expected));
  }
});

describe("splitFailure()", () => {
  it("parts the count from the causes, which may have several lines", () => {
    const parts = { headline: "2/3 poll jobs failed", detail: "a: b\nc: d" };
    assert.deepEqual(splitFailure("2/3 poll jobs failed: a: b\nc: d"), parts);
  });
  it("leaves other messages whole", () => {
    const parts = { headline: "shop: pull failed", detail: "" };
    assert.deepEqual(splitFailure("shop: pull failed"), parts);
  });
});
