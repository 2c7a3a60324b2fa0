import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { mayBeLoad, secondAttempt } from "../../../scripts/lib/second_attempt.ts";
import type { Failure } from "../../../scripts/lib/test_failures.ts";
import type { Stage } from "../../../scripts/lib/test_stages.ts";

const failure = (file?: string): Failure => ({ name: "a test", message: "late", file });
const A = failure("./test/unit/a_test.ts");

describe("a second attempt", () => {
  const rows: [string, readonly (readonly Failure[])[], boolean][] = [
    ["is made for one failure", [[A]], true],
    ["is made for three in two stages", [[A, A], [A]], true],
    ["is not made for four", [[A, A], [A, A]], false],
    ["is not made where a stage ended without naming a test", [[A], []], false],
    ["is not made where the file is not known", [[failure()]], false],
  ];
  for (const [title, stages, made] of rows) {
    it(title, () => assert.equal(mayBeLoad(stages), made));
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
