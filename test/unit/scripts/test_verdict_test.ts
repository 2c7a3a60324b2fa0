import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Counts } from "../../../scripts/lib/test_counts.ts";
import { judge, NOT_TRIED } from "../../../scripts/lib/test_verdict.ts";

const counts = (passed: number, failed = 0): Counts => ({ passed, failed, skipped: 0 });

describe("the verdict on a stage", () => {
  const rows: [string, "plain" | "deno", number, Counts, boolean, RegExp | undefined][] = [
    ["is good when its tests passed", "deno", 0, counts(3), true, undefined],
    ["is bad when it ran none", "deno", 0, counts(0), false, /no test/],
    ["is good of a command that is no test", "plain", 0, counts(0), true, undefined],
    ["is bad when one failed", "deno", 1, counts(3, 1), false, /exit code 1/],
    ["is bad when one failed, whatever the code", "deno", 0, counts(3, 1), false, /exit code 0/],
    ["is bad when the command failed", "plain", 2, counts(0), false, /exit code 2/],
    ["says what was not tried", "deno", NOT_TRIED, counts(0), true, /NOT TRIED/],
    ["is bad when one failed before it gave up", "deno", NOT_TRIED, counts(0, 1), false, /77/],
  ];
  for (const [title, runner, code, seen, ok, problem] of rows) {
    it(title, () => {
      const verdict = judge({ runner }, code, seen);
      assert.equal(verdict.ok, ok);
      if (problem === undefined) assert.equal(verdict.problem, undefined);
      else assert.match(verdict.problem ?? "", problem);
      if (!ok) assert.ok(verdict.counts.failed > 0);
    });
  }

  it("is bad when it skipped all of its tests, unless it may", () => {
    const skipped: Counts = { passed: 0, failed: 0, skipped: 2 };
    assert.equal(judge({ runner: "deno" }, 0, skipped).ok, false);
    assert.equal(judge({ runner: "deno", maySkip: true }, 0, skipped).ok, true);
    assert.equal(judge({ runner: "deno", maySkip: true }, 0, counts(0)).ok, false);
  });
});
