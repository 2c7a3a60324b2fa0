import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  failureOfCommand,
  failuresOfBun,
  failuresOfJunit,
  toldFailures,
} from "../../../scripts/lib/test_failures.ts";

const JUNIT = `<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="deno test" tests="4" failures="3" errors="0" time="0.022">
    <testsuite name="./a_test.ts" tests="1" disabled="0" errors="0" failures="1">
        <testcase name="outer" classname="./a_test.ts" time="0.006" line="2" col="1">
            <failure message="1 test step failed">1 test step failed.</failure>
        </testcase>
    </testsuite>
    <testsuite name="ext:deno_node/testing.ts" tests="3" disabled="0" errors="0" failures="2">
        <testcase name="outer &gt; mid" classname="ext:deno_node/testing.ts" time="0.003" line="1" col="23191">
            <failure message="1 test step failed">1 test step failed.</failure>
        </testcase>
        <testcase name="outer &gt; mid &gt; fine" classname="ext:deno_node/testing.ts" time="0.000" line="1" col="21231">
        </testcase>
        <testcase name="outer &gt; mid &gt; fails &amp; &lt;so&gt;" classname="ext:deno_node/testing.ts" time="0.001" line="1" col="23191">
            <failure message="Uncaught Error: boom &amp; &lt;x&gt;">Error: boom &amp; &lt;x&gt;
second
    at NodeTestContext.&lt;anonymous&gt; (file:///tmp/a_test.ts:2:90)</failure>
        </testcase>
    </testsuite>
</testsuites>`;

const BUN = `bun test v1.4.5 (a7733435c)
a_test.ts:
(pass) outer > before [0.26ms]
1 | import { describe, it } from "node:test";
                         ^
error: boom & <x>
second
      at <anonymous> (/tmp/a_test.ts:2:94)
      at run (node:async_hooks:144:29)
(fail) outer > mid > fails & <so> [8.13ms]
(fail) outer > waits too long [60000.12ms]
(pass) outer > mid > fine [0.26ms]

 2 pass
 2 fail`;

describe("tests that failed", () => {
  it("are the innermost cases of a JUnit report, with what the error says", () => {
    const [failure, ...others] = failuresOfJunit(JUNIT);
    assert.deepEqual(others, []);
    assert.equal(failure?.file, "./a_test.ts");
    assert.equal(failure?.name, "outer > mid > fails & <so>");
    assert.match(failure?.message ?? "", /^Error: boom & <x>\nsecond\n\s+at .*a_test\.ts:2:90/);
  });

  it("are what Bun says failed, with the error before it up to its first place", () => {
    assert.deepEqual(failuresOfBun(BUN), [
      {
        name: "outer > mid > fails & <so>",
        message: "error: boom & <x>\nsecond\n      at <anonymous> (/tmp/a_test.ts:2:94)",
        file: "a_test.ts",
      },
      { name: "outer > waits too long", message: "", file: "a_test.ts" },
    ]);
  });

  it("are what happened between tests", () => {
    const between =
      "b_test.ts:\n\n# Unhandled error between tests\n-----\nerror: at load\n      at b\n-----";
    const failure = {
      name: "between tests",
      message: "error: at load\n      at b",
      file: "b_test.ts",
    };
    assert.deepEqual(failuresOfBun(`${between}\n\n 1 pass\n 1 fail`), [failure]);
    assert.deepEqual(failuresOfBun(`${between}\nc_test.ts:\n(pass) c\n 1 pass`), [failure]);
  });

  it("are none where all passed", () => {
    assert.deepEqual(failuresOfJunit(JUNIT.replace(/<failure[^]*?<\/failure>/g, "")), []);
    assert.deepEqual(failuresOfBun("(pass) a [1.00ms]\n 1 pass\n 0 fail"), []);
  });

  it("are the last words of a command that is no test", () => {
    const { name, message } = failureOfCommand("types", `${"x".repeat(900)}\nthe end\n`);
    assert.equal(name, "types");
    assert.match(message, /^x+\nthe end$/);
    assert.equal(message.length, 400);
  });

  it("are told a few at a time, each shortened", () => {
    const failures = Array.from(
      { length: 7 },
      (_, index) => ({ name: `test ${index}`, message: "a\nb", file: undefined }),
    );
    assert.equal(
      toldFailures('failed in "flows"', failures.slice(0, 1)),
      'failed in "flows":\n  test 0\n    a\n    b',
    );
    assert.match(toldFailures("flows", failures), /test 4\n {4}a\n {4}b\n {2}and 2 more$/);
    const [long] = failuresOfJunit(JUNIT.replace("second", "s".repeat(9_000)));
    assert.ok((long?.message.length ?? 0) < 410);
  });
});
