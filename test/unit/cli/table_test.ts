import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { age, peopleTime, withPeopleTimes } from "../../../src/cli/people_time.ts";
import { fitted, fittedLines, table } from "../../../src/cli/table.ts";
import { createRedactor } from "../../../src/system/mod.ts";

describe("table()", () => {
  it("keeps each row on a line of its own", () => {
    const rows = [["WHAT", "SAYS"], ["context nas", "29.0\r\nok  data  fine"], ["data", "bad"]];
    assert.equal(table(rows).split("\n").length, rows.length + 1);
  });

  it("aligns columns, leaves empty ones out, and pads no line end", () => {
    const rows = [["STATE", "NOTE", "STACK"], ["synced", "", "a"], ["ü", "", "long name"]];
    assert.equal(table(rows), "STATE   STACK\nsynced  a\nü       long name\n");
  });
});

describe("fittedLines()", () => {
  it("has long lines go on below, indented, masks before, and breaks no word", () => {
    const redactor = createRedactor();
    redactor.add("canary secret");
    const text = "failed: it ended with 3\n  job: the canary secret of noon was wrong\nok\n";
    assert.equal(fittedLines(text, { redactor }), text);
    assert.deepEqual(fittedLines(text, { columns: 22, redactor }).split("\n"), [
      ...["failed: it ended", "    with 3"],
      ...["  job: the *** of", "      noon was wrong", "ok", ""],
    ]);
  });
});

describe("fitted()", () => {
  const redactor = createRedactor();
  redactor.add("canary-secret");

  const text = "STATE  STACK  AGE   WHY\n" +
    "held   shop   47 s  held by a person since noon until stackwright resume shop\nok\n";

  it("has the last column go on below itself, and is as it was where there is no terminal", () => {
    assert.equal(fitted(text, { redactor }), text);
    assert.equal(fitted(text, { columns: 200, redactor }), text);
    assert.deepEqual(fitted(text, { columns: 66, redactor }).split("\n"), [
      "STATE  STACK  AGE   WHY",
      "held   shop   47 s  held by a person since noon until stackwright",
      "                    resume shop",
      "ok",
      "",
    ]);
  });

  it("has what has no room there whole below its row, and breaks no word", () => {
    const lines = (columns: number) => fitted(text, { columns, redactor }).split("\n").slice(0, -2);
    assert.deepEqual(lines(50), [
      "STATE  STACK  AGE   WHY",
      "held   shop   47 s",
      "    held by a person since noon until stackwright",
      "    resume shop",
    ]);
    assert.deepEqual(lines(17).slice(2, 6), [
      "held   shop",
      "    47 s",
      "    held by a",
      "    person since",
    ]);
    const words = text.split(/\s+/);
    for (const columns of [17, 20, 22, 40, 59, 60, 70, 80]) {
      assert.ok(lines(columns).every((line) => line.length <= columns), `${columns} columns`);
      assert.deepEqual(
        [...lines(columns), "ok", ""].join(" ").trim().split(/\s+/).sort(),
        words.filter((each) => each !== "").sort(),
      );
    }
  });

  it("begins a row that goes on below where the others begin, and ends a line behind a cell", () => {
    const rows = table([
      ["", "RELEASE", "TIME", "OF", "WHAT"],
      ["*", "2", "2026-11-28 08:47:11", "", "create web, since the release is the first one"],
      ["", "1", "2026-11-28 08:45:48", "local/tmp/infra (refs/heads/main)", "create web, so that"],
    ]);
    assert.deepEqual(fitted(rows, { columns: 60, redactor }).split("\n"), [
      "   RELEASE  TIME                 OF",
      "    WHAT",
      "*  2        2026-11-28 08:47:11",
      "    create web, since the release is the first one",
      "   1        2026-11-28 08:45:48",
      "    local/tmp/infra (refs/heads/main)",
      "    create web, so that",
      "",
    ]);
  });

  it("leaves no half of a secret", () => {
    assert.doesNotMatch(fitted("why canary-secret\n", { columns: 12, redactor }), /can/);
    for (let columns = 44; columns < 80; columns++) {
      const row = `WHY\n${"why ".repeat(7)}canary-secret${" why".repeat(12)}\n`;
      assert.doesNotMatch(fitted(row, { columns, redactor }), /cana|cret/, `${columns} columns`);
    }
  });
});

describe("times for people", () => {
  it("are in the zone of TZ, to the second", () => {
    const time = peopleTime({ env: { TZ: "Europe/Berlin" } });
    assert.equal(time(new Date("2026-03-10T11:00:00.123Z")), "2026-03-10 12:00:00");
  });

  it("stand in sentences too, and what is no instant stays", () => {
    const time = peopleTime({ env: { TZ: "Europe/Berlin" } });
    const held = "held since 2026-03-10T11:00:00.123Z until 2026-07-01T00:00:00+02:00: CPU bug";
    const shown = "held since 2026-03-10 12:00:00 until 2026-07-01 00:00:00: CPU bug";
    assert.equal(withPeopleTimes(held, time), shown);
    const none = "build 2026-13-10T11:00:00Z of 2026-03-10";
    assert.equal(withPeopleTimes(none, time), none);
  });

  it("are in the zone of this machine without TZ", () => {
    assert.match(peopleTime({ env: {} })(new Date()), /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/);
  });

  const now = new Date("2026-03-10T12:00:00Z");
  const ages: [seconds: number, text: string][] = [
    [0, "0 s"],
    [-5, "0 s"],
    [59.9, "59 s"],
    [60, "1 min"],
    [3 * 60 * 60, "3 h"],
    [50 * 60 * 60, "2 d"],
  ];
  for (const [seconds, text] of ages) {
    it(`say ${text} of ${seconds} seconds ago`, () => {
      assert.equal(age(new Date(now.getTime() - seconds * 1000), now), text);
    });
  }
});
