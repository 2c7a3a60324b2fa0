import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { readBoolean, readChoice, readPositiveInteger } from "../../../src/serve/query.ts";

const query = (text: string) => new URLSearchParams(text);

describe("readBoolean()", () => {
  const rows: [string, boolean, boolean][] = [
    ["", true, true],
    ["wait=", false, false],
    ["other=false", true, true],
    ...["1", "t", "T", "TRUE", "true", "True"].map((word): [string, boolean, boolean] => [
      `wait=${word}`,
      false,
      true,
    ]),
    ...["0", "f", "F", "FALSE", "false", "False"].map((word): [string, boolean, boolean] => [
      `wait=${word}`,
      true,
      false,
    ]),
    ["wait=false&wait=true", true, false],
  ];
  for (const [text, fallback, expected] of rows) {
    it(`is ${expected} for "${text}", by default ${fallback}`, () => {
      assert.equal(readBoolean(query(text), "wait", fallback), expected);
    });
  }
  for (const word of ["yes", "tRuE", "2", "%20true", "on"]) {
    it(`refuses ${word}`, () => {
      assert.throws(() => readBoolean(query(`wait=${word}`), "wait", true), {
        code: "bad_request",
        message: "invalid parameter: wait",
      });
    });
  }
});

describe("readPositiveInteger()", () => {
  const rows: [string, number | undefined][] = [
    ["", undefined],
    ["limit=", undefined],
    ["limit=1", 1],
    ["limit=%2B7", 7],
    ["limit=%20200%20", 200],
    ["limit=9007199254740991", 9007199254740991],
  ];
  for (const [text, expected] of rows) {
    it(`is ${expected} for "${text}"`, () => {
      assert.equal(readPositiveInteger(query(text), "limit"), expected);
    });
  }
  for (const word of ["0", "-1", "1.5", "1e3", "0x10", "many", "9007199254740992"]) {
    it(`refuses ${word}`, () => {
      assert.throws(() => readPositiveInteger(query(`limit=${word}`), "limit"), {
        message: "invalid parameter: limit",
      });
    });
  }
});

describe("readChoice()", () => {
  const options = { what: "colour of things", choices: ["red", "green"] } as const;
  const read = (text: string) => readChoice(query(text), "colour", options);
  it("ignores case and spaces around it", () => {
    assert.deepEqual([read("colour=%20RED%20"), read("colour="), read("")], [
      "red",
      undefined,
      undefined,
    ]);
  });
  it("names the choices when it is none of them", () => {
    assert.throws(() => read("colour=blue"), (error: Error & { problems?: unknown }) => {
      assert.equal(error.message, "invalid colour of things");
      assert.deepEqual(error.problems, [
        { file: "request", message: "valid colour values: red, green" },
      ]);
      return true;
    });
  });
});
