import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { addCounts, countBun, countJunit, countsLine } from "../../../scripts/lib/test_counts.ts";

const failure = `<failure message="m">text &gt; more</failure>`;

describe("countJunit()", () => {
  it("counts leaves, not the groups around them", () => {
    const report = [
      `<testcase name="a" classname="x" time="1"><failure message="1 step"/></testcase>`,
      `<testcase name="top" classname="x">\n</testcase>`,
      `<testcase name="a &gt; one" classname="y"></testcase>`,
      `<testcase name="a &gt; two" classname="y"><skipped/></testcase>`,
      `<testcase name="a &gt; in" classname="y">${failure}</testcase>`,
      `<testcase name="a &gt; in &gt; three" classname="y">\n${failure}\n</testcase>`,
      `<testcase name="short" classname="y"/>`,
    ].join("\n");
    assert.deepEqual(countJunit(report), { passed: 3, failed: 1, skipped: 1 });
  });

  it("counts nothing in an empty report", () => {
    assert.deepEqual(countJunit("<testsuites></testsuites>"), { passed: 0, failed: 0, skipped: 0 });
  });
});

describe("countBun()", () => {
  it("reads the summary, not what tests printed before it", () => {
    const output = "99 pass\n(pass) a > b\n\n 12 pass\n 2 skip\n 1 todo\n 3 fail\nRan 18 tests";
    assert.deepEqual(countBun(output), { passed: 12, failed: 3, skipped: 3 });
  });

  it("takes a missing line as none", () => {
    assert.deepEqual(countBun(" 4 pass\n 0 fail\n"), { passed: 4, failed: 0, skipped: 0 });
  });
});

describe("countsLine()", () => {
  it("is the sum in the words of the closing line", () => {
    const sum = addCounts({ passed: 1, failed: 0, skipped: 2 }, {
      passed: 3,
      failed: 1,
      skipped: 0,
    });
    assert.equal(countsLine(sum), "4 passed, 1 failed, 2 skipped");
  });
});
