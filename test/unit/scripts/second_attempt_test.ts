import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { secondAttempt, worthAnother } from "../../../scripts/lib/second_attempt.ts";
import type { Failure } from "../../../scripts/lib/test_failures.ts";
import type { Stage } from "../../../scripts/lib/test_stages.ts";

const failure = (file?: string): Failure => ({ name: "a test", message: "late", file });
const A = failure("./test/unit/a_test.ts");

describe("a second attempt", () => {
  const rows: [string, readonly (readonly Failure[])[], readonly number[]][] = [
    ["is made for one failure", [[A]], [0]],
    ["is made for three in two stages", [[A, A], [A]], [0, 1]],
    ["is made for three and no more", [[A, A], [A], [A]], [1, 2]],
    ["is not made for four", [[A, A, A, A]], []],
    ["is made for few failures beside a stage with many", [[A, A, A, A], [A]], [1]],
    ["is made beside a stage that ended without naming a test", [[], [A]], [1]],
    ["is made beside a stage whose file is not known", [[A], [failure()]], [0]],
    ["is not made where only one of two files is known", [[A, failure()]], []],
  ];
  for (const [title, stages, places] of rows) {
    it(title, () => assert.deepEqual(worthAnother(stages), places));
  }

  it("runs only the files in which tests failed, in the same way", () => {
    const stage: Stage = {
      group: "unit",
      name: "units",
      runner: "deno",
      argv: [
        "nice",
        "-n",
        "5",
        "deno",
        "test",
        "-A",
        "--parallel",
        "test/unit",
        "./test/b_test.ts",
      ],
      env: { A: "1" },
      together: ["test/unit/c_test.ts"],
    };
    const again = secondAttempt(stage, [A, A, failure("test/unit/d_test.ts")]);
    const files = ["./test/unit/a_test.ts", "./test/unit/d_test.ts"];
    assert.deepEqual(again, {
      ...stage,
      argv: ["nice", "-n", "5", "deno", "test", "-A", "--parallel", ...files],
      together: [],
    });
  });
});
