import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { retryHold } from "../../../src/plan/hold.ts";
import { backOffSeconds, decideRetry, type RetryInput } from "../../../src/plan/mod.ts";

const FAILED_AT = new Date("2026-03-10T11:00:00Z");
const after = (seconds: number) => new Date(FAILED_AT.getTime() + seconds * 1000);

const FAILED = { release: "bad", failures: 1, automaticAttempts: 0, lastFailedAt: FAILED_AT };

function input(fields: Partial<RetryInput>): RetryInput {
  return {
    release: "bad",
    failure: FAILED,
    retry: { limit: undefined, delaySeconds: 0 },
    delayGiven: false,
    origin: "automatic",
    now: after(3600),
    ...fields,
  };
}

describe("decideRetry()", () => {
  const table: readonly [string, Partial<RetryInput>, unknown][] = [
    ["nothing failed", { failure: undefined }, { kind: "attempt", isRetry: false }],
    ["another release failed", { release: "other" }, { kind: "attempt", isRetry: false }],
    ["the pause is over", {}, { kind: "attempt", isRetry: true }],
    ["the first pause is not over", { now: after(9) }, {
      kind: "wait",
      reason: "delay",
      retryAt: after(10),
    }],
    ["the clock was set back meanwhile", { now: after(-3600) }, {
      kind: "attempt",
      isRetry: true,
    }],
    ["somebody asks in person", { now: after(1), origin: "manual" }, {
      kind: "attempt",
      isRetry: false,
    }],
    ["a delay is set and not over", {
      retry: { limit: undefined, delaySeconds: 60 },
      delayGiven: true,
      now: after(59),
    }, { kind: "wait", reason: "delay", retryAt: after(60) }],
    ["a delay of nothing is set", { delayGiven: true, now: after(0) }, {
      kind: "attempt",
      isRetry: true,
    }],
    ["somebody's attempt failed while it waited", {
      failure: { ...FAILED, byHandAt: after(3600) },
      since: after(3599),
      now: after(3601),
    }, { kind: "wait", reason: "delay", retryAt: after(3610) }],
    ["somebody's attempt failed before it waited", {
      failure: { ...FAILED, byHandAt: after(3600) },
      since: after(3600.5),
      now: after(3601),
    }, { kind: "attempt", isRetry: true }],
    ["no retry is allowed", { retry: { limit: 0, delaySeconds: 0 } }, {
      kind: "wait",
      reason: "budget_exhausted",
    }],
    ["the budget is used up", {
      retry: { limit: 2, delaySeconds: 0 },
      failure: { release: "bad", failures: 3, automaticAttempts: 2, lastFailedAt: FAILED_AT },
    }, { kind: "wait", reason: "budget_exhausted" }],
  ];
  for (const [when, fields, expected] of table) {
    it(`is ${JSON.stringify(expected)} when ${when}`, () => {
      assert.deepEqual(decideRetry(input(fields)), expected);
    });
  }
});

describe("backOffSeconds()", () => {
  it("doubles from ten seconds to a quarter of an hour", () => {
    assert.deepEqual([1, 2, 3, 7, 8, 50].map(backOffSeconds), [10, 20, 40, 640, 900, 900]);
  });
});

describe("retryHold()", () => {
  it("tells of what a container printed the last line, in a message of one line", () => {
    const plan = { kind: "deploy", message: "recreate web", services: [] } as const;
    const failure = "web exited with 3; last output:\nstarting\ncannot open it";
    const { message } = retryHold({ kind: "wait", reason: "budget_exhausted" }, failure, plan);
    assert.equal(
      message,
      "this release failed before (web exited with 3: cannot open it), and is not tried again " +
        "automatically: recreate web",
    );
  });

  it("stays a sentence where the plan is one", () => {
    const plan = { message: "nothing names it any more: it was in a", services: [] };
    const retry = { kind: "wait", reason: "delay", retryAt: FAILED_AT } as const;
    const { message } = retryHold(retry, "volume is in use", plan, "its removal");
    assert.match(
      message,
      /^its removal failed before \(volume is in use\), and is not tried again before \S+: nothing names it any more: it was in a$/,
    );
  });
});
