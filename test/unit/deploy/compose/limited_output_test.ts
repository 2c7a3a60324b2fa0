import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { limitedOutput } from "../../../../src/deploy/compose/limited_output.ts";

describe("limitedOutput", () => {
  it("passes lines on without blanks around them, and no empty ones", () => {
    const told: string[] = [];
    const tell = limitedOutput((line) => told.push(line));
    ["  a b ", "", " ", "c"].forEach(tell);
    assert.deepEqual(told, ["a b", "c"]);
  });

  it("leaves out what comes after 4 million characters, and says so once", () => {
    const told: string[] = [];
    const tell = limitedOutput((line) => told.push(line));
    const line = "x".repeat(1024 - 100);
    for (let count = 0; count < 10_000; count++) tell(line);
    assert.equal(told.length, 4097);
    assert.equal(told.at(-1), "further output of compose is left out");
  });

  it("counts what each line takes in the log, however short it is", () => {
    const told: string[] = [];
    const tell = limitedOutput((line) => told.push(line));
    for (let count = 0; count < 100_000; count++) tell("x");
    assert.ok(told.length < 50_000, `${told.length}`);
  });
});
